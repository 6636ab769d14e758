import { knownReasons } from './known-reasons.ts';
import { type Measure, ratioOf } from './query-figures.ts';
import { atLeast, atMost, type Check, type Limit } from './results/check.ts';
import type { Samples } from './rounds.ts';
import {
  own,
  ownAlone,
  ownAlonePrepared,
  ownSession,
  plainKnex,
  twoInstances,
} from './subjects/knex-subjects.ts';
import { peers } from './subjects/peers.ts';
import { pgpool } from './subjects/pgpool.ts';
import { type QueryName, queryNames, type Subject } from './subjects/subject.ts';

/** What is equal but for noise. */
const equal = 0.98;

const words: Partial<Record<Measure, string>> = {
  cpuMicros: 'processor time',
  perSecond: 'throughput',
};

/** Holds what was measured at one concurrency against the limits; what was not measured is left out. */
export function checkQueries(measured: ReadonlyMap<QueryName, Samples>): Check[] {
  const check = (
    query: QueryName,
    measure: Measure,
    [one, other]: readonly [Subject, Subject],
    limit: Limit,
  ): Check[] => {
    const samples = measured.get(query);
    if (!samples?.has(one.name) || !samples.has(other.name)) return [];
    const { median } = ratioOf(samples, measure, one.name, other.name);
    return [limit(`${query}, ${words[measure]}: ${one.name} to ${other.name}`, median)];
  };
  const alone = [ownAlone, plainKnex] as const;
  // On one host there is nothing to be behind, and nothing to be told.
  const inSession = [ownSession, plainKnex] as const;
  return [
    ...check('read', 'cpuMicros', alone, atMost(0.9)),
    ...check('read', 'perSecond', alone, atLeast(1.05)),
    ...queryNames
      .filter((query) => query !== 'read')
      .flatMap((query) => [
        ...check(query, 'cpuMicros', alone, atMost(1.02)),
        ...check(query, 'perSecond', alone, atLeast(equal)),
      ]),
    ...check('insert', 'cpuMicros', inSession, atMost(1.25)),
    ...check('transaction', 'cpuMicros', inSession, atMost(1.25)),
    ...check('join', 'perSecond', [ownAlonePrepared, plainKnex], atLeast(1.5)),
    ...check('read', 'perSecond', [own, pgpool], atLeast(3)),
    ...[twoInstances, ...peers].flatMap((peer) =>
      queryNames.flatMap((query) =>
        check(query, 'perSecond', [own, peer], (what, value) => ({
          ...atLeast(equal)(what, value),
          peer: peer.name,
          reason: knownReasons[peer.name]?.[query],
        })),
      ),
    ),
  ];
}

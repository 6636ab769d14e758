import { knownReasons, type Reasons } from './known-reasons.ts';
import { atLeast, atMost, type Limit } from './results/check.ts';
import {
  own,
  ownAlone,
  ownAlonePrepared,
  ownLeastConnections,
  ownOneReplica,
  ownPrepared,
  ownSession,
  plainKnex,
  twoInstances,
} from './subjects/knex-subjects.ts';
import { peers } from './subjects/peers.ts';
import { pgpool } from './subjects/pgpool.ts';
import type { QueryName, Subject } from './subjects/subject.ts';

/** The limits of one query, by what is measured: the ratio of one subject to another. */
export interface QueryLimits {
  readonly cpuMicros?: Limit;
  readonly perSecond?: Limit;
}

/** Two subjects, and the limits for how the first compares with the second. */
export interface QueryCheck {
  readonly pair: readonly [Subject, Subject];
  /** Whether the second is one of those that others use for this. */
  readonly isPeer?: boolean;
  /** Why a limit is missed, where that was looked into. */
  readonly reasons?: Reasons | undefined;
  readonly limits: Readonly<Partial<Record<QueryName, QueryLimits>>>;
}

/** What is equal but for noise. */
const equal = 0.98;

const alike: QueryLimits = { cpuMicros: atMost(1.02), perSecond: atLeast(equal) };
const asFast: QueryLimits = { perSecond: atLeast(equal) };
const told: QueryLimits = { cpuMicros: atMost(1.25) };

/** What `--check` holds of queries. */
export const queryChecks: readonly QueryCheck[] = [
  {
    pair: [ownAlone, plainKnex],
    limits: {
      read: { cpuMicros: atMost(0.9), perSecond: atLeast(1.05) },
      join: alike,
      insert: alike,
      transaction: alike,
      raw: alike,
      stream: alike,
    },
  },
  // On one host there is nothing to be behind, and nothing to be told.
  { pair: [ownSession, plainKnex], limits: { insert: told, transaction: told } },
  { pair: [ownAlonePrepared, plainKnex], limits: { join: { perSecond: atLeast(1.5) } } },
  {
    pair: [own, pgpool],
    limits: { read: { perSecond: atLeast(3) } },
    reasons: { read: 'the server parses each statement again: `prepare` is for that' },
  },
  { pair: [ownPrepared, pgpool], limits: { read: { perSecond: atLeast(3) } } },
  // A third server costs the machine something, whoever asks it.
  againstPeer(ownOneReplica, twoInstances),
  // What balances connections gives a query to whichever server answered last.
  ...peers
    .filter(({ name }) => name === 'knex-dynamic-connection')
    .map((peer) => againstPeer(ownLeastConnections, peer)),
  ...peers.map((peer) => ({ ...againstPeer(own, peer), reasons: knownReasons[peer.name] })),
];

function againstPeer(one: Subject, peer: Subject): QueryCheck {
  return {
    pair: [one, peer],
    isPeer: true,
    limits: {
      read: asFast,
      join: asFast,
      insert: asFast,
      transaction: asFast,
      raw: asFast,
      stream: asFast,
    },
  };
}

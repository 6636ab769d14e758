import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cluster } from '../lib/testing/index.ts';
import { type QueryCheck, queryChecks } from './query-checks.ts';
import { ratioOf } from './query-figures.ts';
import type { Sample } from './load.ts';
import type { Check } from './results/check.ts';
import { type Effort, measureCell, type Samples } from './rounds.ts';
import { closeAll, openAll } from './subjects/open-all.ts';
import { emptyShop } from './subjects/shop.ts';
import { type QueryName, queryNames } from './subjects/subject.ts';

/** How pairs are measured; streams in a fifth of the rounds. */
export interface PairEffort extends Effort {
  readonly concurrency: number;
  /** How many processes share the rounds: what V8 makes of the same code differs from one to the next. */
  readonly processes: number;
}

const writing: readonly QueryName[] = ['insert', 'transaction'];

const measures = [
  ['cpuMicros', 'processor time'],
  ['perSecond', 'throughput'],
] as const;

/** What was measured of a pair, by the queries; a message can hold no map. */
type PairSamples = Partial<Record<QueryName, (readonly [string, readonly Sample[]])[]>>;

/**
 * Measures the two of each limit in turn, apart from all others, and holds them against it; what is
 * not installed, or cannot run a query, is left out.
 */
export async function checkPairs(servers: Cluster, effort: PairEffort): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [place, check] of queryChecks.entries()) {
    if (check.pair.some(({ missing }) => missing?.() !== undefined)) continue;
    const parts: PairSamples[] = [];
    for (let part = 0; part < effort.processes; part++) {
      parts.push(await measureApart(servers, place, effort));
    }
    for (const query of queryNames) {
      const all = check.pair.map(
        ({ name }) =>
          [
            name,
            parts.flatMap((part) => part[query]?.find(([one]) => one === name)?.[1] ?? []),
          ] as const,
      );
      checks.push(...judge(check, query, new Map(all)));
    }
  }
  return checks;
}

async function measureApart(
  servers: Cluster,
  place: number,
  effort: PairEffort,
): Promise<PairSamples> {
  const child = fork(join(__dirname, 'pair.ts'), [String(place), JSON.stringify(effort)], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, RWSPLIT_CLUSTER_URL: servers.url },
  });
  let samples: PairSamples | undefined;
  child.once('message', (found) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the child sends it.
    samples = found as PairSamples;
  });
  const [code]: unknown[] = await once(child, 'exit');
  if (samples === undefined) throw new Error(`A pair was not measured: exit code ${String(code)}.`);
  return samples;
}

/** Measures one pair in this process. */
export async function measurePair(
  servers: Cluster,
  { pair, limits }: QueryCheck,
  { concurrency, rounds, processes, millis, warmUpMillis }: PairEffort,
): Promise<PairSamples> {
  const found: PairSamples = {};
  const opened = await openAll(servers, pair);
  const both = [...opened.values()];
  try {
    const queries = queryNames.filter(
      (query) => limits[query] && both.every((one) => one[query] !== undefined),
    );
    // V8 compiles what all of them have in common again, whenever another one comes.
    for (const query of queries) {
      await measureCell(opened, { query, concurrency }, { rounds: 0, millis, warmUpMillis });
    }
    for (const query of queries) {
      const parts = processes * (query === 'stream' ? 5 : 1);
      const effort = { rounds: Math.ceil(rounds / parts), millis };
      found[query] = [...(await measureCell(opened, { query, concurrency }, effort))];
      if (writing.includes(query)) await emptyShop(servers);
    }
  } finally {
    await closeAll(opened);
  }
  return found;
}

function judge(
  { pair, isPeer, reasons, limits }: QueryCheck,
  query: QueryName,
  samples: Samples,
): Check[] {
  const [{ name: one }, { name: other }] = pair;
  if (samples.get(one)?.length === 0) return [];
  return measures.flatMap(([measure, word]) => {
    const limit = limits[query]?.[measure];
    if (limit === undefined) return [];
    const spread = ratioOf(samples, measure, one, other);
    const check = limit(`${query}, ${word}: ${one} to ${other}`, spread.median);
    const peer = isPeer === true ? other : undefined;
    return [{ ...check, spread, peer, reason: reasons?.[query] }];
  });
}

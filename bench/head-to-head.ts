import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cluster } from '../lib/testing/index.ts';
import { type QueryCheck, queryChecks } from './query-checks.ts';
import { ratioOf } from './query-figures.ts';
import type { Check } from './results/check.ts';
import { type Effort, measureCell, type Samples } from './rounds.ts';
import { closeAll, openAll } from './subjects/open-all.ts';
import { emptyShop } from './subjects/shop.ts';
import { type QueryName, queryNames } from './subjects/subject.ts';

/** How pairs are measured; streams in a fifth of the rounds. */
export interface PairEffort extends Effort {
  readonly concurrency: number;
}

const writing: readonly QueryName[] = ['insert', 'transaction'];

const measures = [
  ['cpuMicros', 'processor time'],
  ['perSecond', 'throughput'],
] as const;

/**
 * Measures the two of each limit in turn, apart from all others, and holds them against it; what is
 * not installed, or cannot run a query, is left out.
 */
export async function checkPairs(servers: Cluster, effort: PairEffort): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [place, { pair }] of queryChecks.entries()) {
    if (pair.some(({ missing }) => missing?.() !== undefined)) continue;
    checks.push(...(await checkApart(servers, place, effort)));
  }
  return checks;
}

async function checkApart(servers: Cluster, place: number, effort: PairEffort): Promise<Check[]> {
  const child = fork(join(__dirname, 'pair.ts'), [String(place), JSON.stringify(effort)], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, RWSPLIT_CLUSTER_URL: servers.url },
  });
  let checks: Check[] | undefined;
  child.once('message', (found) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the child sends it.
    checks = found as Check[];
  });
  const [code]: unknown[] = await once(child, 'exit');
  if (checks === undefined) throw new Error(`A pair was not measured: exit code ${String(code)}.`);
  return checks;
}

/** Measures one pair in this process. */
export async function checkPair(
  servers: Cluster,
  check: QueryCheck,
  { concurrency, rounds, millis }: PairEffort,
): Promise<Check[]> {
  const checks: Check[] = [];
  const opened = await openAll(servers, check.pair);
  const both = [...opened.values()];
  try {
    for (const query of queryNames) {
      if (!check.limits[query] || both.some((one) => one[query] === undefined)) continue;
      const parts = query === 'stream' ? 5 : 1;
      const effort = { rounds: Math.ceil(rounds / parts), millis };
      const samples = await measureCell(opened, { query, concurrency }, effort);
      if (writing.includes(query)) await emptyShop(servers);
      checks.push(...judge(check, query, samples));
    }
  } finally {
    await closeAll(opened);
  }
  return checks;
}

function judge(
  { pair, isPeer, reasons, limits }: QueryCheck,
  query: QueryName,
  samples: Samples,
): Check[] {
  const [{ name: one }, { name: other }] = pair;
  return measures.flatMap(([measure, word]) => {
    const limit = limits[query]?.[measure];
    if (limit === undefined) return [];
    const spread = ratioOf(samples, measure, one, other);
    const check = limit(`${query}, ${word}: ${one} to ${other}`, spread.median);
    const peer = isPeer === true ? other : undefined;
    return [{ ...check, spread, peer, reason: reasons?.[query] }];
  });
}

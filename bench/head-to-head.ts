import type { Cluster } from '../lib/testing/index.ts';
import { knownReasons } from './known-reasons.ts';
import { type QueryCheck, queryChecks } from './query-checks.ts';
import { ratioOf } from './query-figures.ts';
import type { Check } from './results/check.ts';
import { type Effort, measureCell, type Samples } from './rounds.ts';
import { closeAll, openAll } from './subjects/open-all.ts';
import { emptyShop } from './subjects/shop.ts';
import { type QueryName, queryNames } from './subjects/subject.ts';

/** How pairs are measured; those with peers in half of the rounds, and streams in a fifth. */
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
  for (const check of queryChecks) {
    if (check.pair.some(({ missing }) => missing?.() !== undefined)) continue;
    checks.push(...(await checkPair(servers, check, effort)));
  }
  return checks;
}

async function checkPair(
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
      const parts = (check.isPeer ? 2 : 1) * (query === 'stream' ? 5 : 1);
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

function judge({ pair, isPeer, limits }: QueryCheck, query: QueryName, samples: Samples): Check[] {
  const [{ name: one }, { name: other }] = pair;
  return measures.flatMap(([measure, word]) => {
    const limit = limits[query]?.[measure];
    if (limit === undefined) return [];
    const spread = ratioOf(samples, measure, one, other);
    const check = limit(`${query}, ${word}: ${one} to ${other}`, spread.median);
    const peer = isPeer && { peer: other, reason: knownReasons[other]?.[query] };
    return [{ ...check, spread, ...peer }];
  });
}

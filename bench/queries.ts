import type { Cluster } from '../lib/testing/index.ts';
import { measureAllocations } from './allocations.ts';
import type { Bench } from './bench-run.ts';
import { printAllocations, printCell } from './print-queries.ts';
import { checkQueries } from './query-checks.ts';
import { figuresOf } from './query-figures.ts';
import { reportChecks } from './results/check.ts';
import { placeOf } from './results/place.ts';
import type { Allocation, QueryFigure, Skipped } from './results/section.ts';
import { type Cell, measureCell, type Samples } from './rounds.ts';
import { createShop, dropShop, emptyShop } from './subjects/shop.ts';
import { type Opened, queryNames } from './subjects/subject.ts';
import { subjects } from './subjects/subjects.ts';

/** How much is measured (of streams, which take long, a third), and at which load it is checked. */
const usual = { concurrencies: [1, 10, 100], checked: 10, rounds: 15, millis: 100, windows: 25 };
const smoke = { concurrencies: [2], checked: 2, rounds: 1, millis: 0, windows: 2 };

/** Measures all subjects side by side. */
export const benchQueries: Bench = async ({ isSmoke, cluster, keep }) => {
  const servers = await cluster();
  await createShop(servers);
  const { concurrencies, checked, rounds, millis, windows } = isSmoke ? smoke : usual;
  const { opened, skipped } = await openAll(servers);

  const figures: QueryFigure[] = [];
  const samplesOf = new Map<Cell['query'], Samples>();
  const allocations: Allocation[] = [];
  try {
    for (const query of queryNames) {
      for (const concurrency of concurrencies) {
        const effort = { rounds: query === 'stream' ? Math.ceil(rounds / 3) : rounds, millis };
        const cell = { query, concurrency };
        const samples = await measureCell(opened, cell, effort);
        await emptyShop(servers);
        const found = figuresOf(cell, samples);
        printCell(cell, found);
        figures.push(...found);
        if (concurrency === checked) samplesOf.set(query, samples);
      }
    }
    allocations.push(...(await measureAllocations(opened, windows)));
    printAllocations(allocations);
  } finally {
    await Promise.all([...opened.values()].map(({ close }) => close()));
    await dropShop(servers);
  }
  const checks = checkQueries(samplesOf);
  const place = await placeOf(servers);
  keep({ queries: { place, rounds, millis, checks, skipped, allocations, figures } });
  return isSmoke || reportChecks(checks);
};

async function openAll(
  servers: Cluster,
): Promise<{ readonly opened: ReadonlyMap<string, Opened>; readonly skipped: readonly Skipped[] }> {
  const opened = new Map<string, Opened>();
  const skipped: Skipped[] = [];
  for (const { name, missing, open } of subjects) {
    const why = missing?.();
    if (why === undefined) opened.set(name, await open(servers));
    else {
      skipped.push({ subject: name, why });
      console.log(`Left out: ${name}, since ${why}`);
    }
  }
  return { opened, skipped };
}

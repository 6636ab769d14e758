import { measureAllocations } from './allocations.ts';
import type { Bench } from './bench-run.ts';
import { checkPairs } from './head-to-head.ts';
import { printAllocations, printCell } from './print-queries.ts';
import { figuresOf } from './query-figures.ts';
import { reportChecks } from './results/check.ts';
import { placeOf } from './results/place.ts';
import type { Allocation, QueryFigure, Skipped } from './results/section.ts';
import { measureCell } from './rounds.ts';
import { closeAll, openAll } from './subjects/open-all.ts';
import { createShop, dropShop, emptyShop } from './subjects/shop.ts';
import { queryNames } from './subjects/subject.ts';
import { subjects } from './subjects/subjects.ts';

/** How much is measured, of all side by side (fewer rounds of streams, which take long) and of pairs. */
const usual = {
  loads: [
    { concurrency: 1, rounds: 15, streamRounds: 5 },
    { concurrency: 10, rounds: 30, streamRounds: 10 },
    // A round of a million rows for each.
    { concurrency: 100, rounds: 15, streamRounds: 3 },
  ],
  millis: 30,
  windows: 25,
  pairs: { concurrency: 10, rounds: 120, processes: 2, millis: 25, warmUpMillis: 2000 },
};
const smoke: typeof usual = {
  loads: [{ concurrency: 2, rounds: 1, streamRounds: 1 }],
  millis: 0,
  windows: 2,
  pairs: { concurrency: 2, rounds: 1, processes: 1, millis: 0, warmUpMillis: 0 },
};

/** Measures all subjects side by side, and then head to head those that a limit compares. */
export const benchQueries: Bench = async ({ isSmoke, cluster, keep }) => {
  const servers = await cluster();
  await createShop(servers);
  const { loads, millis, windows, pairs } = isSmoke ? smoke : usual;
  const skipped: Skipped[] = subjects.flatMap(({ name, missing }) => {
    const why = missing?.();
    return why === undefined ? [] : [{ subject: name, why }];
  });
  for (const { subject, why } of skipped) console.log(`Left out: ${subject}, since ${why}`);

  const figures: QueryFigure[] = [];
  const allocations: Allocation[] = [];
  try {
    const there = subjects.filter(({ missing }) => missing?.() === undefined);
    const opened = await openAll(servers, there);
    try {
      for (const query of queryNames) {
        for (const { concurrency, rounds, streamRounds } of loads) {
          const effort = { rounds: query === 'stream' ? streamRounds : rounds, millis };
          const cell = { query, concurrency };
          const found = figuresOf(cell, await measureCell(opened, cell, effort));
          await emptyShop(servers);
          printCell(cell, found);
          figures.push(...found);
        }
      }
      allocations.push(...(await measureAllocations(opened, windows)));
      printAllocations(allocations);
    } finally {
      await closeAll(opened);
    }
    const checks = await checkPairs(servers, pairs);
    const place = await placeOf(servers);
    keep({ queries: { place, loads, millis, checks, pairs, skipped, allocations, figures } });
    return isSmoke || reportChecks(checks);
  } finally {
    await dropShop(servers);
  }
};

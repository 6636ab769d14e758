import { collectYoungGarbage } from './collect-garbage.ts';
import { quantileOf } from './quantile.ts';
import type { Allocation } from './results/section.ts';
import { type Opened, type QueryName, queryNames } from './subjects/subject.ts';

// Few enough for the young generation, so that no collection falls into a window.
const queriesEach = 20;

/** A stream of 10,000 rows has more than the young generation holds. */
const measured: readonly QueryName[] = queryNames.filter((query) => query !== 'stream');

/**
 * Measures how much memory a query takes from the heap, one query after the other, in windows that
 * begin with a collection; the median leaves out those that a collection cut short.
 */
export async function measureAllocations(
  opened: ReadonlyMap<string, Opened>,
  windows: number,
): Promise<Allocation[]> {
  const allocations: Allocation[] = [];
  let number = 0;
  for (const query of measured) {
    for (const [subject, { [query]: run }] of opened) {
      if (run === undefined) continue;
      const bytes: number[] = [];
      for (let window = 0; window <= windows; window++) {
        collectYoungGarbage();
        const begin = process.memoryUsage().heapUsed;
        for (let turn = 0; turn < queriesEach; turn++) await run(number++);
        bytes.push((process.memoryUsage().heapUsed - begin) / queriesEach);
      }
      allocations.push({ subject, query, bytes: quantileOf(bytes, 0.5) });
    }
  }
  return allocations;
}

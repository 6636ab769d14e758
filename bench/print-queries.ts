import { formatSpread } from './quantile.ts';
import type { Allocation, QueryFigure } from './results/section.ts';
import type { Cell } from './rounds.ts';

const columns = [
  'queries/s',
  'to Knex',
  'CPU in µs',
  'to Knex',
  'p50 in ms',
  'p99 in ms',
  'loop late by ms',
];

/** Prints what was measured of a query: ratios with the quartiles of the rounds. */
export function printCell({ query, concurrency }: Cell, figures: readonly QueryFigure[]): void {
  console.log(`\n${query}, ${concurrency} at once`);
  printRow('', columns);
  for (const { subject, ...figure } of figures) {
    printRow(subject, [
      figure.perSecond.toFixed(0),
      formatSpread(figure.throughputRatio),
      figure.cpuMicros.toFixed(0),
      formatSpread(figure.cpuRatio),
      figure.p50Millis.toFixed(2),
      figure.p99Millis.toFixed(2),
      figure.loopDelayMillis.toFixed(1),
    ]);
  }
}

/** Prints how much each subject allocates for a query. */
export function printAllocations(allocations: readonly Allocation[]): void {
  const queries = [...new Set(allocations.map(({ query }) => query))];
  console.log('\nAllocated on the heap for one query, in KB');
  printRow('', queries);
  for (const subject of new Set(allocations.map((one) => one.subject))) {
    const of = (query: string): number | undefined =>
      allocations.find((one) => one.subject === subject && one.query === query)?.bytes;
    printRow(
      subject,
      queries.map((query) => ((of(query) ?? Number.NaN) / 1000).toFixed(1)),
    );
  }
}

function printRow(name: string, cells: readonly string[]): void {
  console.log(`  ${name.padEnd(34)}${cells.map((cell) => cell.padStart(18)).join('')}`);
}

import type { QueriesSection, QueryFigure } from '../results/section.ts';
import { queryNames } from '../subjects/subject.ts';
import { formatSpread } from '../quantile.ts';
import { tableOf } from './table.ts';

/** What all subjects needed, side by side. */
export function queryTables(section: QueriesSection): string[] {
  const { place, loads, millis, figures, allocations, skipped } = section;
  const concurrencies = [...new Set(figures.map(({ concurrency }) => concurrency))];
  const main = concurrencies[1] ?? concurrencies[0] ?? 1;
  const rounds = loads.map(
    (load) => `${load.rounds} (${load.streamRounds} of streams) with ${load.concurrency} at once`,
  );
  return [
    `Measured on ${place.date} with Node ${place.node} and PostgreSQL ${place.postgresql}, on ${place.cores} cores (${place.processor}) that the servers share with the client: medians of rounds of ${millis} ms for each subject, ${rounds.join(', ')}.`,
    '![Throughput of each subject to plain Knex, for six queries, ten at once](performance.svg)',
    ...skipped.map(({ subject, why }) => `Left out: ${subject}, since ${why}.`),
    ...concurrencies.flatMap((concurrency) => [
      `### Throughput, ${concurrency} at once`,
      'To plain Knex; more is better. Half of the rounds lie within what is in brackets.',
      bySubject(figures, concurrency, ({ throughputRatio }) => formatSpread(throughputRatio)),
    ]),
    `### Processor time of a query, ${main} at once`,
    'To plain Knex; less is better.',
    bySubject(figures, main, ({ cpuRatio }) => formatSpread(cpuRatio)),
    `### The read by primary key, ${main} at once`,
    readTable(figures, main),
    'The same of all queries, and with 1 and 100 at once, is in `bench/results.json`.',
    '### Allocations',
    'Kilobytes that one query takes from the heap.',
    tableOf(
      ['', ...unique(allocations, 'query')],
      unique(allocations, 'subject').map((subject) => [
        subject,
        ...unique(allocations, 'query').map((query) => {
          const found = allocations.find((one) => one.subject === subject && one.query === query);
          return found ? (found.bytes / 1000).toFixed(1) : '–';
        }),
      ]),
    ),
  ];
}

function bySubject(
  figures: readonly QueryFigure[],
  concurrency: number,
  cell: (figure: QueryFigure) => string,
): string {
  const here = figures.filter((figure) => figure.concurrency === concurrency);
  return tableOf(
    ['', ...queryNames],
    unique(here, 'subject').map((subject) => [
      subject,
      ...queryNames.map((query) => {
        const found = here.find((one) => one.subject === subject && one.query === query);
        return found ? cell(found) : '–';
      }),
    ]),
  );
}

function readTable(figures: readonly QueryFigure[], concurrency: number): string {
  return tableOf(
    ['', 'queries/s', 'CPU in µs', 'p50 in ms', 'p99 in ms', 'event loop late by ms'],
    figures
      .filter((one) => one.query === 'read' && one.concurrency === concurrency)
      .map((one) => [
        one.subject,
        one.perSecond.toFixed(0),
        one.cpuMicros.toFixed(0),
        one.p50Millis.toFixed(2),
        one.p99Millis.toFixed(2),
        one.loopDelayMillis.toFixed(1),
      ]),
  );
}

function unique<Key extends string>(
  list: readonly Readonly<Record<Key, string>>[],
  key: Key,
): string[] {
  return [...new Set(list.map((one) => one[key]))];
}

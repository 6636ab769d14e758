import { formatValue } from '../results/check.ts';
import type { Results } from '../results/section.ts';
import { queryTables } from './query-tables.ts';
import { tableOf } from './table.ts';

/** All figures, as text of Markdown. */
export function tablesOf({ queries, client, classification, memory }: Results): string {
  return [
    ...(queries ? queryTables(queries) : []),
    ...(client ? clientTable(client) : []),
    ...(classification ? classificationTable(classification) : []),
    ...(memory ? memoryTable(memory) : []),
    ...checkTable([queries, classification, memory]),
  ].join('\n\n');
}

function clientTable({ figures }: NonNullable<Results['client']>): string[] {
  const queries = [...new Set(figures.map(({ query }) => query))];
  const cellOf = (subject: string, query: string): string => {
    const found = figures.find((one) => one.subject === subject && one.query === query);
    return found ? `${found.micros.toFixed(1)} (${found.ratio.median.toFixed(2)})` : '–';
  };
  return [
    '### The client alone',
    'Microseconds of processor time for a query, ten at once, where the answers of the server come from memory; in brackets the ratio to plain Knex.',
    tableOf(
      ['', ...queries],
      [...new Set(figures.map(({ subject }) => subject))].map((subject) => [
        subject,
        ...queries.map((query) => cellOf(subject, query)),
      ]),
    ),
  ];
}

function classificationTable({ figures }: NonNullable<Results['classification']>): string[] {
  const kinds = [...new Set(figures.map(({ kind }) => kind))];
  const medianOf = (kind: string, when: string): string =>
    figures.find((one) => one.kind === kind && one.when === when)?.micros.median.toFixed(2) ?? '';
  const whens = [...new Set(figures.map(({ when }) => when))];
  return [
    '### Classification',
    'Microseconds to tell what a text needs, the median:',
    tableOf(
      ['', ...whens],
      kinds.map((kind) => [kind, ...whens.map((when) => medianOf(kind, when))]),
    ),
  ];
}

function memoryTable({ figures }: NonNullable<Results['memory']>): string[] {
  return [
    '### Memory',
    'Megabytes in use after so many texts that never came again:',
    tableOf(
      ['texts', 'heap', 'outside of the heap', 'resident'],
      figures.map((one) => [
        one.statements.toLocaleString('en'),
        megabytes(one.heapBytes),
        megabytes(one.externalBytes),
        megabytes(one.residentBytes),
      ]),
    ),
  ];
}

function checkTable(sections: readonly Results[keyof Results][]): string[] {
  const checks = sections.flatMap((section) => section?.checks ?? []);
  if (checks.length === 0) return [];
  const withPeers = checks.filter(({ peer }) => peer !== undefined);
  const told = checks.filter(({ peer, isMet }) => peer === undefined || !isMet);
  return [
    '### Limits',
    `What \`npm run bench -- --check\` holds. Of ${withPeers.length} comparisons with what others use only those are told in which this package is not at least as fast.`,
    tableOf(
      ['what', 'measured', 'limit', 'kept'],
      told.map((check) => [
        check.what,
        formatValue(check),
        check.limit,
        check.isMet ? 'yes' : (check.reason ?? '**no**'),
      ]),
    ),
  ];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

import { statementKinds, type StatementKind } from './statement-kind.ts';
import type { Counts, Tally } from './tally.ts';

/** What each host did, by its name, the first primary first. */
export type Tallies = ReadonlyMap<string, Tally>;

const labelWidth = 30;
const columnWidth = 11;

/** Draws the counts: a line for each kind of statement, a column for each host in each of its roles. */
export function drawTable(tallies: Tallies): string {
  const kinds = statementKinds.filter((kind) => total(tallies, kind) > 0 || kind !== 'unknown');
  return [
    line('', [...tallies.keys(), 'promoted']),
    ...kinds.map((kind) =>
      line(kind, [
        ...[...tallies.values()].map((tally) => tally.count(kind)),
        promotedCount(tallies, kind),
      ]),
    ),
    line('all', [
      ...[...tallies.values()].map(({ counts }) => sumOf(counts)),
      [...tallies.values()].reduce((sum, { promotedCounts }) => sum + sumOf(promotedCounts), 0),
    ]),
  ].join('\n');
}

/** As {@link drawTable}, on one line. */
export function drawLine(tallies: Tallies): string {
  return [...tallies].map(([name, tally]) => `${name} ${tally.total}`).join(', ');
}

/** The sum of one kind over all hosts. */
export function total(tallies: Tallies, kind: StatementKind): number {
  const first = [...tallies.values()].reduce((sum, tally) => sum + tally.count(kind), 0);
  return first + promotedCount(tallies, kind);
}

/** How many statements of one kind a replica served once it was the primary. */
export function promotedCount(tallies: Tallies, kind: StatementKind): number {
  return [...tallies.values()].reduce(
    (sum, tally) => sum + (tally.promotedCounts.get(kind) ?? 0),
    0,
  );
}

function sumOf(counts: Counts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function line(label: string, cells: readonly (number | string)[]): string {
  return `  ${label.padEnd(labelWidth)}${cells.map((cell) => String(cell).padStart(columnWidth)).join('')}`;
}

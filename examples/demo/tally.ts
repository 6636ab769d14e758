import type { LogLine } from './server-log.ts';
import { kindOf, type StatementKind } from './statement-kind.ts';

/** How many statements of each kind. */
export type Counts = Map<StatementKind, number>;

/** What one server did for the shop, by its own log. */
export class Tally {
  /** What it did in the role that it had at first. */
  readonly counts: Counts = new Map();
  /** What a replica did once it was the primary. */
  readonly promotedCounts: Counts = new Map();
  readonly errors: string[] = [];
  /** How many statements the server answered that it cannot do them as a replica. */
  refused = 0;
  /** From when on the shop could know that a replica was promoted, in milliseconds since 1970. */
  knownPromotedAt: number = Number.POSITIVE_INFINITY;
  /** The kinds of the transactions that are open, by session and virtual transaction. */
  readonly #open = new Map<string, StatementKind>();

  count(kind: StatementKind): number {
    return this.counts.get(kind) ?? 0;
  }

  /** Every statement that the shop caused; the probes come by themselves. */
  get total(): number {
    return [...this.counts, ...this.promotedCounts]
      .filter(([kind]) => kind !== 'probes of the library')
      .reduce((sum, [, count]) => sum + count, 0);
  }

  add(lines: readonly LogLine[]): void {
    for (const line of lines) if (line.error_severity === 'LOG') this.#addStatement(line);
    this.addErrors(lines);
  }

  /** Adds what failed, and leaves out what did not. */
  addErrors(lines: readonly LogLine[]): void {
    for (const line of lines) {
      if (!['LOG', 'WARNING'].includes(line.error_severity)) this.#addError(line);
    }
  }

  #addStatement(line: LogLine): void {
    const { message, session_id, vxid = '' } = line;
    // `execute fetch from` is the next part of a stream that was counted.
    const sql = /^(?:statement|execute (?!fetch from)[^:]*): (.*)$/s.exec(message)?.[1];
    if (sql === undefined) return;

    // A transaction keeps its number from BEGIN to its end; a statement outside has one of its own.
    const transaction = `${session_id} ${vxid}`;
    if (sql.startsWith('BEGIN')) {
      const isReadOnly = sql.includes('READ ONLY');
      this.#open.set(transaction, isReadOnly ? 'in read-only transactions' : 'in transactions');
    } else if (/^(?:COMMIT|ROLLBACK)/.test(sql)) {
      this.#open.delete(transaction);
    } else {
      const kind = this.#open.get(transaction) ?? kindOf(sql);
      const counts = this.#countsOf(kind, line);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }

  // A read that finds the replica promoted is as right there as before, until the shop can know.
  #countsOf(kind: StatementKind, { isPromoted, timestamp }: LogLine): Counts {
    const isPrimary =
      isPromoted && (kind !== 'reads' || millisOf(timestamp) > this.knownPromotedAt);
    return isPrimary ? this.promotedCounts : this.counts;
  }

  #addError({ message, state_code }: LogLine): void {
    // Most refusals have a code of their own; unlogged tables and a few functions share theirs.
    if (state_code === '25006' || /recovery|read-only/.test(message)) this.refused++;
    else this.errors.push(message);
  }
}

// As in `2025-01-31 23:59:59.123 UTC`.
function millisOf(timestamp: string): number {
  return Date.parse(timestamp.replace(' UTC', 'Z').replace(' ', 'T'));
}

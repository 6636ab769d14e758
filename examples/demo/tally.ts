import type { LogLine } from './server-log.ts';
import { kindOf, type StatementKind } from './statement-kind.ts';

/** What one server did for the shop, by its own log. */
export class Tally {
  readonly counts: Map<StatementKind, number> = new Map();
  readonly errors: string[] = [];
  /** How many statements the server answered that it cannot do them as a replica. */
  refused = 0;
  /** The kinds of the transactions that are open, by session and virtual transaction. */
  readonly #open = new Map<string, StatementKind>();

  count(kind: StatementKind): number {
    return this.counts.get(kind) ?? 0;
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
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

  #addStatement({ message, session_id, vxid = '' }: LogLine): void {
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
      this.counts.set(kind, this.count(kind) + 1);
    }
  }

  #addError({ message, state_code }: LogLine): void {
    // Most refusals have a code of their own; unlogged tables and a few functions share theirs.
    if (state_code === '25006' || /recovery|read-only/.test(message)) this.refused++;
    else this.errors.push(message);
  }
}

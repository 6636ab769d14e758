import type { Session } from '../consistency/session.ts';
import type { Lease } from '../routing/lease.ts';
import type { CompiledStatement } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';

/** A statement of a session, and how it is sent. */
export interface Sending<T> {
  readonly split: RWSplit;
  readonly lease: Lease;
  readonly session: Session;
  readonly statement: CompiledStatement;
  readonly send: Send<T>;
  /** Whether it keeps a portal open, whose rows are read as they come. */
  readonly isStream: boolean;
  /** Whether something else may be on the way at once with it. */
  readonly canShare: boolean;
}

/** The text of a statement, as it reaches the driver. */
export function sentText({ sql, options }: CompiledStatement): string {
  return typeof options?.text === 'string' ? options.text : sql;
}

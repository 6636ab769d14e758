/** What happened to the steps of concurrent sessions, in any order. */
export type History = readonly HistoryEvent[];

/** One statement, or one transaction of several, as its session saw it. */
export interface HistoryEvent {
  readonly kind: 'write' | 'read' | 'transaction';
  readonly session: string;
  /** The process that ran it; a session may go from one to another. */
  readonly process: string;
  /** Whether the session's reads may never go back in time. */
  readonly isMonotonic: boolean;
  /** When it was sent and when it ended, in milliseconds of {@link historyClock}. */
  readonly beganAt: number;
  readonly endedAt: number;
  /** Unknown where it may have been committed, be it later. */
  readonly outcome: 'ok' | 'failed' | 'unknown';
  readonly operations: readonly Operation[];
  /** Why it did not end well. */
  readonly error?: string;
}

/** What one statement did. Versions are only ever added to a key, and each is written once. */
export type Operation = WriteOperation | ReadOperation;

/** Added a version to a key. */
export interface WriteOperation {
  readonly kind: 'write';
  readonly key: string;
  readonly version: string;
}

/** Saw every version of a key, on a server. */
export interface ReadOperation {
  readonly kind: 'read';
  readonly key: string;
  readonly versions: readonly string[];
  readonly server?: string;
}

/** Milliseconds of a clock that all processes of the machine share. */
export function historyClock(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

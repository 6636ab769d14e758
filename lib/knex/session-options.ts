import type { ConsistencyMode } from '../config/consistency-options.ts';

/** What is said of a session as it is opened. */
export interface SessionOptions {
  /** A token of another session, by `token()`: this one sees all that the other one had written. */
  readonly after?: string | undefined;
  /**
   * What a token is that can't be believed (malformed, forged, too old, of another cluster): an
   * `'error'`, thrown as the session is opened, or `'ignore'`, as if there were none. A token of a
   * position that nobody has ever written shows later: then the read that finds out fails. Without
   * `after`, such a token of the session around it is what it is there.
   *
   * @default 'error'
   */
  readonly invalidToken?: 'error' | 'ignore' | undefined;
  /**
   * What its reads see of earlier writes.
   *
   * @default what `rwSplit.consistency` says
   */
  readonly consistency?: ConsistencyMode | undefined;
  /**
   * Milliseconds that a read waits for a replica to catch up before it goes to the primary.
   *
   * @default what `rwSplit.consistency.waitMillis` says
   */
  readonly waitMillis?: number | undefined;
  /**
   * Whether a read never sees an older state than the read before it.
   *
   * @default what `rwSplit.consistency.monotonic` says
   */
  readonly monotonic?: boolean | undefined;
}

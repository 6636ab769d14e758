import type { Lsn } from '../consistency/lsn.ts';

/** What a server answered to a probe; `undefined` is what it does not tell. */
export interface ServerReport {
  readonly isInRecovery: boolean | undefined;
  /** `default_transaction_read_only`: what sessions begin with, whatever the role of the server. */
  readonly isReadOnlyByDefault: boolean | undefined;
  /** The cluster that the server belongs to, by its system identifier. */
  readonly systemId: string | undefined;
  /**
   * A primary's is that of its WAL, right at once after a promotion. A replica's is that which its
   * WAL receiver follows, where that can be seen, else that of its last checkpoint.
   */
  readonly timeline: number | undefined;
  /** False where the timeline is that of a checkpoint, which may be stale, or unknown. */
  readonly isTimelineCurrent: boolean;
  /** What a primary has written; what a replica has replayed. */
  readonly position: Lsn | undefined;
  /** What a replica has received; a primary has none. */
  readonly receivedPosition: Lsn | undefined;
  /** How long ago the last transaction that a replica replayed was committed: grows on an idle one, too. */
  readonly replayAgeMillis: number | undefined;
  /** Whether somebody paused the replay of a replica. */
  readonly isReplayPaused: boolean | undefined;
  /** Whether a WAL receiver is alive. */
  readonly isReceiving: boolean | undefined;
  /** The server process, to tell apart those that share a name. */
  readonly server: string | undefined;
  /** Whether process ids are the server's own: no pooler in between shares or renames sessions. */
  readonly hasTrueProcessIds: boolean;
}

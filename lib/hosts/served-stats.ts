/** Counters of what a host served since the client was made. */
export interface ServedStats {
  readonly reads: number;
  readonly writes: number;
  /** Connections that could not be opened. */
  readonly connectErrors: number;
}

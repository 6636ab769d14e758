/**
 * How reads that have to see what their session wrote, or saw, were served by a host since the
 * client was made.
 */
export interface ConsistencyStats {
  /** Reads that it served as a replica that was known to have it. */
  fresh: number;
  /** Reads that it served as a replica after a check, which travelled with the read. */
  checked: number;
  /** Answers of a replica that were thrown away, as the check found it behind. */
  stale: number;
  /** Reads that it served as the primary, as no replica was known to have it. */
  forStaleness: number;
}

/** Counters that have counted nothing. */
export function newConsistencyStats(): ConsistencyStats {
  return { fresh: 0, checked: 0, stale: 0, forStaleness: 0 };
}

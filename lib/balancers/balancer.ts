/** A non-empty list; lets the compiler prove that a balancer always has a choice. */
export type NonEmpty<T> = readonly [T, ...T[]];

/** What a {@link Balancer} may know about a host. */
export interface HostView {
  /** Unique within the cluster. */
  readonly name: string;
  /** Relative share of the traffic: finite, ≥ 0; 0 serves only as a last resort. */
  readonly weight: number;
  /** Place among the configured replicas, from 0; the primary, where it serves reads, comes after all of them. */
  readonly order: number;
  /** Queries running on the host, or waiting for one of its connections. */
  readonly inFlight: number;
  /** Moving average of how long the host's queries take, in milliseconds; 0 while none was seen. */
  readonly latencyMillis: number;
}

/**
 * Chooses the host of one query.
 *
 * Called once per query with the hosts that are fit to serve it. It must be synchronous and must
 * not throw. A retry calls it again with the hosts that were not tried yet.
 */
export interface Balancer {
  pick<H extends HostView>(hosts: NonEmpty<H>): H;
}

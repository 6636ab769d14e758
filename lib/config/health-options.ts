/** How hosts are watched: by probes, over one connection more to each host, from the first query on. */
export interface HealthOptions {
  /**
   * Milliseconds between two probes of a host that is up, give or take a fifth. Short ones notice
   * silence, lag and promotions sooner, and cost each server a small query more; a refused or lost
   * connection is noticed at once.
   *
   * @default 5000
   */
  intervalMillis?: number | undefined;
  /**
   * Milliseconds that a probe may take, connecting included, before it has failed. Short ones take
   * out hosts that are merely busy.
   *
   * @default 1000
   */
  timeoutMillis?: number | undefined;
  /**
   * Failed probes in a row that make a host down; from the first on it is suspect, and probed every
   * 250 milliseconds. At 1 a single lost packet does.
   *
   * @default 3
   */
  fall?: number | undefined;
  /**
   * Good probes in a row that make a host that was down up again. At 1 a flapping host returns at
   * once.
   *
   * @default 2
   */
  rise?: number | undefined;
  /**
   * The most milliseconds between two probes of a host that stays down: the first comes after 1000,
   * or `intervalMillis` where that is less, and each failure doubles the time. A host that was away
   * for long may be unused for as long as this after it is back.
   *
   * @default 60000
   */
  backoffMaxMillis?: number | undefined;
  /**
   * Milliseconds in which a host that was down grows from a tenth of its share of the reads to all
   * of it, opening two connections at a time; 0 gives it all at once.
   *
   * @default 10000
   */
  slowStartMillis?: number | undefined;
  /**
   * Milliseconds after the first missed probe at which what was sent to a silent host is given up:
   * reads run elsewhere, writes fail with an unknown outcome. Also how long nothing may come or go
   * on a connection before its server is asked whether it is still at work. Short ones give up what
   * a stalled server would have answered, long ones keep queries waiting.
   *
   * @default 10000
   */
  hangMillis?: number | undefined;
}

/** What happens while no primary is known. */
export interface FailoverOptions {
  /**
   * Milliseconds that a write, or a read that no other host can serve, waits for a primary before it
   * fails with `RWSPLIT_NO_HOST`, or for servers that have no connection left before it fails with
   * 53300; at 0 it fails at once. Knex's `acquireConnectionTimeout` bounds it.
   *
   * @default 10000
   */
  waitMillis?: number | undefined;
}

/** How `replicas` as a function is asked. */
export interface DiscoveryOptions {
  /**
   * Milliseconds between two calls, give or take a fifth; a call may take 5000. Short ones notice
   * sooner which replicas came and went.
   *
   * @default 30000
   */
  intervalMillis?: number | undefined;
}

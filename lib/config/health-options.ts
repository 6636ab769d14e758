/** How hosts are watched. Accepted and validated; has no effect in this version. */
export interface HealthOptions {
  /**
   * Milliseconds between two probes of a host. Short ones find failures sooner and cost the servers
   * more.
   *
   * @default 5000
   */
  intervalMillis?: number | undefined;
  /**
   * Milliseconds after which a probe without an answer has failed.
   *
   * @default 1000
   */
  timeoutMillis?: number | undefined;
  /**
   * Failed probes in a row that make a host down. At 1 a single lost packet does.
   *
   * @default 3
   */
  fall?: number | undefined;
  /**
   * Good probes in a row that make it up again. At 1 a flapping host returns at once.
   *
   * @default 2
   */
  rise?: number | undefined;
  /**
   * The most milliseconds between two probes of a host that stays down.
   *
   * @default 60000
   */
  backoffMaxMillis?: number | undefined;
  /**
   * Milliseconds in which a readmitted host ramps up to its full share; 0 gives it all at once.
   *
   * @default 10000
   */
  slowStartMillis?: number | undefined;
  /**
   * Milliseconds after the first missed probe at which the queries of a silent host are given up.
   *
   * @default 10000
   */
  hangMillis?: number | undefined;
}

/** What happens while no primary is known. Accepted and validated; has no effect in this version. */
export interface FailoverOptions {
  /**
   * Milliseconds that a write waits for a primary; at 0 it fails at once.
   *
   * @default 10000
   */
  waitMillis?: number | undefined;
}

/** How `replicas` as a function is asked. Accepted and validated; has no effect in this version. */
export interface DiscoveryOptions {
  /**
   * Milliseconds between two calls.
   *
   * @default 30000
   */
  intervalMillis?: number | undefined;
}

import type { Registry } from 'prom-client';

/** Options of {@link registerMetrics}. */
export interface MetricsOptions {
  /**
   * Where the metrics are registered.
   *
   * @default prom-client's `register`
   */
  readonly registry?: Registry | undefined;
  /**
   * What the names of the metrics begin with; a second Knex instance in one registry needs another.
   *
   * @default rwsplit_
   */
  readonly prefix?: string | undefined;
  /**
   * Upper bounds of the histogram of durations, in seconds.
   *
   * @default [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
   */
  readonly durationBuckets?: readonly number[] | undefined;
}

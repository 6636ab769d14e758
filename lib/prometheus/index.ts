/** What a Prometheus server asks of a client that splits, by way of `prom-client`. */
export type { MetricsOptions } from './metrics-options.ts';
export { registerMetrics } from './register-metrics.ts';

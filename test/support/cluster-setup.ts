import { type Cluster, startCluster } from '../../lib/testing/index.ts';
import { sharedClusterVariable } from './cluster.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { quickPasswords } from './quick-passwords.ts';

declare global {
  // Jest loads set-up and tear-down on their own; only this is common to both.
  // oxlint-disable-next-line no-var
  var clusterOfThisRun: Cluster | undefined;
  // oxlint-disable-next-line no-var
  var folderOfThisRun: string | undefined;
}

/** Starts one cluster for all test files of a run, or takes that of `RWSPLIT_CLUSTER_URL`. */
export default async function setUp(): Promise<void> {
  globalThis.folderOfThisRun = makeMemoryFolder();
  if (globalThis.folderOfThisRun !== undefined) {
    process.env['TMPDIR'] = globalThis.folderOfThisRun;
  }
  const begin = performance.now();
  const cluster = await startCluster({ maxConnections: 200, settings: quickPasswords });
  const millis = Math.round(performance.now() - begin);
  console.info(`\nA cluster of ${cluster.hosts.length} hosts was ready after ${millis} ms.`);
  globalThis.clusterOfThisRun = cluster;
  process.env[sharedClusterVariable] = cluster.url;
}

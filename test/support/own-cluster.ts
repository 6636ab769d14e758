import { afterAll, beforeAll } from '@jest/globals';
import type { Cluster, ClusterOptions } from '../../lib/testing/index.ts';
import { launchCluster } from '../../lib/testing/launch-cluster.ts';
import { quickPasswords } from './quick-passwords.ts';

/**
 * Gives a test file servers of its own, to be killed, hung and promoted at will.
 *
 * @returns the cluster; to be asked inside of tests and hooks.
 */
export function useOwnCluster(options?: ClusterOptions): () => Cluster {
  let cluster: Cluster | undefined;

  beforeAll(async () => {
    cluster = await launchCluster({
      ...options,
      settings: { ...quickPasswords, ...options?.settings },
    });
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  return () => {
    if (cluster === undefined) throw new Error('The cluster is there only once a test runs.');
    return cluster;
  };
}

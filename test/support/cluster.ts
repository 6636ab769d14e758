import { attachCluster, type Cluster } from '../../lib/testing/index.ts';

/** How the processes that run test files learn of the cluster that they share. */
export const sharedClusterVariable = 'RWSPLIT_SHARED_CLUSTER_URL';

/**
 * The cluster that all test files of a run share.
 *
 * Its processes cannot be ended from here: for a test of a failure there is `useOwnCluster`.
 */
export async function sharedCluster(): Promise<Cluster> {
  const url = process.env[sharedClusterVariable];
  if (url === undefined) {
    throw new Error(
      `${sharedClusterVariable} is not set: add test/support/cluster-setup.ts to the project in jest.config.cjs.`,
    );
  }
  return attachCluster(url);
}

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { attachCluster, type Cluster } from '../../lib/testing/index.ts';
import { sharedCluster } from './cluster.ts';

/**
 * Gives a test file a database of its own on the shared cluster, there on every replica.
 *
 * @returns the cluster as seen from that database; to be asked inside of tests and hooks.
 */
export function useDatabase(): () => Cluster {
  const name = `test_${randomBytes(6).toString('hex')}`;
  let shared: Cluster | undefined;
  let cluster: Cluster | undefined;

  beforeAll(async () => {
    shared = await sharedCluster();
    await shared.primary.query(`create database ${name} strategy file_copy`);
    await shared.waitForReplay();
    cluster = await attachCluster(shared.url.replace(/[^/]+$/, name));
  });

  afterAll(async () => {
    await shared?.primary.query(`drop database if exists ${name} with (force)`);
  });

  return () => {
    if (cluster === undefined) throw new Error('The database is there only once a test runs.');
    return cluster;
  };
}

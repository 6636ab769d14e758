import { asError } from '../errors.ts';
import type { Cluster } from './cluster.ts';
import type { Host } from './host.ts';

/**
 * Opens a connection to every host whose role is only presumed, so that each tells its own.
 *
 * @returns whether anything was learnt.
 */
export async function findPrimary(cluster: Cluster, millis: number): Promise<boolean> {
  const before = cluster.routable;
  const unknown = cluster.routable.usable.filter((host) => !host.isRoleObserved);
  await Promise.all(unknown.map((host) => look(host, millis)));
  return cluster.routable !== before;
}

async function look(host: Host, millis: number): Promise<void> {
  try {
    host.pool.release(await host.pool.acquireWithin(millis).promise);
  } catch (error) {
    // Not a candidate; why, the snapshot and the final error tell.
    host.failed(asError(error));
  }
}

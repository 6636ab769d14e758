import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cluster } from '../lib/testing/index.ts';

/** How long the network takes, each way. */
export const delayMillis = 2;

/** The ports of a cluster's hosts, in their order. */
export function portsOf({ hosts }: Cluster): number[] {
  return hosts.map(({ port }) => port);
}

/** Runs `fn` with the ports that lead to the hosts of a cluster by a slow network. */
export async function slowly<T>(
  cluster: Cluster,
  fn: (ports: readonly number[]) => Promise<T>,
): Promise<T> {
  const args = [delayMillis, ...portsOf(cluster)].map(String);
  // In a process of its own, so that its work is not counted.
  const network = fork(join(__dirname, 'network.ts'), args, { execArgv: process.execArgv });
  try {
    const [ports]: number[][] = await once(network, 'message');
    if (ports === undefined) throw new Error('The network told no ports.');
    return await fn(ports);
  } finally {
    network.disconnect();
  }
}

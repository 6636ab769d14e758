/**
 * A program that starts a cluster with the options of its first argument, reports on a line what
 * it started, hangs one replica, and holds the cluster until it is ended. With `throw` as its
 * second argument it ends itself by an uncaught error.
 */
import type { ClusterOptions } from '../../lib/testing/index.ts';
import { launchCluster } from '../../lib/testing/launch-cluster.ts';

const [options = '{}', ending] = process.argv.slice(2);

async function hold(): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test that starts this wrote it
  const cluster = await launchCluster(JSON.parse(options) as ClusterOptions);
  const pids = await Promise.all(
    cluster.hosts.map((host) => host.query<{ pid: number }>('select pid from pg_stat_activity')),
  );
  cluster.replicas[0]?.hang();
  console.log(JSON.stringify(pids.flat().map(({ pid }) => pid)));
  if (ending === 'throw') throw new Error('Ended by an error.');
  setInterval(() => undefined, 60_000);
}

void hold();

import { knex, type Knex } from 'knex';
// As it is published: tsx keeps the names of functions, which costs time wherever one is made.
import { RWSplitClient, rwSplit, type RWSplitOptions } from 'knex-rwsplit';
import type { Cluster } from '../../lib/testing/index.ts';
import { knexQueries } from './knex-queries.ts';
import { connectionsEach, idleMillis, type Opened, type Subject } from './subject.ts';

const pool = { min: 0, max: connectionsEach, idleTimeoutMillis: idleMillis };

/** Knex as it is, with one host. */
export const plainKnex: Subject = {
  name: 'Knex',
  hosts: 'one',
  open: async (cluster) => openKnex(knex({ client: 'pg', connection: cluster.connection(), pool })),
};

/** What is done by hand without a library: an instance for writes, one for reads. */
export const twoInstances: Subject = {
  name: 'two Knex instances',
  hosts: 'two',
  open: async (cluster) => {
    const [replica] = cluster.replicas;
    const write = knex({ client: 'pg', connection: cluster.connection(), pool });
    const read = knex({ client: 'pg', connection: cluster.connection(replica), pool });
    return {
      ...knexQueries(write, read),
      close: async () => Promise.all([write.destroy(), read.destroy()]),
    };
  },
};

/** This package, on the primary alone. */
export const ownAlone: Subject = splitting('this package, one host', 'one', {
  consistency: 'eventual',
});

/** The same, with sessions that see their own writes. */
export const ownAloneSession: Subject = splitting("this package, one host, 'session'", 'one', {
  consistency: 'session',
});

/** The same, with named prepared statements. */
export const ownAlonePrepared: Subject = splitting('this package, one host, prepared', 'one', {
  consistency: 'eventual',
  prepare: { max: 100 },
});

/** This package, on the primary and the replicas. */
export const own: Subject = splitting('this package', 'all', { consistency: 'eventual' });

/** This package, on the primary and one replica, as {@link twoInstances}. */
export const ownOneReplica: Subject = splitting('this package, one replica', 'two', {
  consistency: 'eventual',
});

/** On all hosts, where a read goes to the replica that has the least to do. */
export const ownLeastConnections: Subject = splitting("this package, 'least-connections'", 'all', {
  consistency: 'eventual',
  balancer: 'least-connections',
});

/** On all hosts, with sessions that see their own writes. */
export const ownSession: Subject = splitting("this package, 'session'", 'all', {
  consistency: 'session',
});

/** The same, with named prepared statements. */
export const ownPrepared: Subject = splitting('this package, prepared', 'all', {
  consistency: 'eventual',
  prepare: { max: 100 },
});

const replicasOf = { one: 0, two: 1, all: Number.POSITIVE_INFINITY };

/** A Knex instance of this package, on so many hosts, that knows them. */
export async function ownDatabase(
  cluster: Cluster,
  options: RWSplitOptions,
  hosts: Subject['hosts'] = 'all',
): Promise<Knex> {
  const replicas = cluster.replicas.slice(0, replicasOf[hosts]);
  const db = knex({
    client: RWSplitClient,
    connection: cluster.connection(),
    pool,
    rwSplit: {
      ...options,
      replicas: replicas.map(({ name, host, port }) => ({ name, host, port })),
    },
  });
  await rwSplit(db).checkNow();
  return db;
}

function splitting(name: string, hosts: Subject['hosts'], options: RWSplitOptions): Subject {
  return {
    name,
    hosts,
    open: async (cluster) => openKnex(await ownDatabase(cluster, options, hosts)),
  };
}

function openKnex(db: Knex): Opened {
  return { ...knexQueries(db), close: async () => db.destroy() };
}

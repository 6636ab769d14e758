import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../lib/index.ts';
import type { ConsistencyMode } from '../lib/config/consistency-options.ts';
import type { Cluster } from '../lib/testing/index.ts';
import { createRoutingSchema } from '../test/support/routing-schema.ts';
import { isWithin } from './is-within.ts';
import { compare, worked } from './measure.ts';
import { report } from './report.ts';
import { delayMillis, portsOf, slowly } from './slow-network.ts';

const allowedRatio = 1.05;

const work: Readonly<Record<string, (db: Knex) => PromiseLike<unknown>>> = {
  insert: (db) => db('notes').insert({ rank: 1 }),
  transaction: (db) => db.transaction(async (trx) => trx('notes').insert({ rank: 1 })),
  read: (db) => db('notes').where({ id: 1 }),
  'read of a session that wrote': (db) => db('here').select('host'),
};

/** A Knex instance that reaches the hosts of a cluster, in their order, on these ports. */
async function open(
  cluster: Cluster,
  ports: readonly number[],
  consistency: ConsistencyMode,
): Promise<Knex> {
  const db = knex({
    client: RWSplitClient,
    connection: { ...cluster.connection(), port: ports[0] ?? 0 },
    pool: { min: 0, max: 1 },
    rwSplit: {
      consistency,
      replicas: cluster.replicas.map(({ name, host }, n) => ({ name, host, port: ports[n + 1] })),
    },
  });
  await rwSplit(db).checkNow();
  for (const { name: host } of rwSplit(db).hosts()) {
    await db.raw('select 1').queryContext({ rwSplit: { host } });
  }
  return db;
}

/** Times with a network in between. */
async function compareTimes(cluster: Cluster, ports: readonly number[]): Promise<boolean> {
  const eventual = await open(cluster, ports, 'eventual');
  const session = await open(cluster, ports, 'session');
  console.log(`Time with ${delayMillis} ms of network each way, 'session' to 'eventual':`);

  let isAllowed = true;
  for (const [name, run] of Object.entries(work)) {
    const afterWrite = name === 'read of a session that wrote';
    // What a read finds is what was written long before; a session of its own else.
    const scoped = async (db: Knex): Promise<unknown> =>
      afterWrite ? run(db) : rwSplit(db).session({}, async () => run(db));
    const isWell = await isWithin(
      allowedRatio,
      name,
      ['eventual', async () => scoped(eventual)],
      ['session', async () => scoped(session)],
    );
    isAllowed &&= isWell;
  }

  await Promise.all([eventual.destroy(), session.destroy()]);
  return isAllowed;
}

/** The work of this process on loopback. */
async function compareWork(cluster: Cluster): Promise<void> {
  const plain = knex({ client: 'pg', connection: cluster.connection(), pool: { min: 0, max: 1 } });
  const eventual = await open(cluster, portsOf(cluster), 'eventual');
  const session = await open(cluster, portsOf(cluster), 'session');
  console.log('Processor time on loopback, to plain Knex:');

  for (const [name, run] of Object.entries(work)) {
    const needed = await compare(
      [
        { name: 'plain', run: async () => run(plain) },
        { name: 'eventual', run: async () => run(eventual) },
        { name: 'session', run: async () => run(session) },
      ],
      { rounds: 20, times: 100, meter: worked, quantile: 0.5 },
    );
    report(
      `${name}, 'eventual'`,
      needed.eventual / needed.plain,
      `${needed.eventual.toFixed(2)} ms`,
    );
    report(`${name}, 'session'`, needed.session / needed.plain, `${needed.session.toFixed(2)} ms`);
  }
  await Promise.all([plain.destroy(), eventual.destroy(), session.destroy()]);
}

/**
 * Measures what `consistency: 'session'` costs.
 *
 * @returns whether that is no more than it may be.
 */
export async function benchConsistency(cluster: Cluster): Promise<boolean> {
  await createRoutingSchema(cluster);
  const isAllowed = await slowly(cluster, (ports) => compareTimes(cluster, ports));
  await compareWork(cluster);
  return isAllowed;
}

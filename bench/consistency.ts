/**
 * What `consistency: 'session'` costs. With `--check` it fails where that is more than it may be.
 */
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../lib/index.ts';
import type { ConsistencyMode } from '../lib/config/consistency-options.ts';
import { type Cluster, startCluster } from '../lib/testing/index.ts';
import { type ChaosProxy, startChaosProxy } from '../test/support/chaos-proxy.ts';
import { createRoutingSchema } from '../test/support/routing-schema.ts';
import { compare, elapsed, worked } from './measure.ts';

const delayMillis = 2;
const allowedRatio = 1.05;

const work: Readonly<Record<string, (db: Knex) => PromiseLike<unknown>>> = {
  insert: (db) => db('notes').insert({ rank: 1 }),
  transaction: (db) => db.transaction(async (trx) => trx('notes').insert({ rank: 1 })),
  read: (db) => db('notes').where({ id: 1 }),
  'read of a session that wrote': (db) => db('here').select('host'),
};

async function open(
  cluster: Cluster,
  proxies: ReadonlyMap<string, ChaosProxy> | undefined,
  consistency: ConsistencyMode,
): Promise<Knex> {
  const portOf = ({ name, port }: Cluster['primary']): number => proxies?.get(name)?.port ?? port;
  const db = knex({
    client: RWSplitClient,
    connection: { ...cluster.connection(), port: portOf(cluster.primary) },
    pool: { min: 0, max: 1 },
    rwSplit: {
      consistency,
      replicas: cluster.replicas.map((replica) => ({
        name: replica.name,
        host: replica.host,
        port: portOf(replica),
      })),
    },
  });
  await rwSplit(db).checkNow();
  for (const { name: host } of rwSplit(db).hosts()) {
    await db.raw('select 1').queryContext({ rwSplit: { host } });
  }
  return db;
}

/** Times with a network in between. */
async function compareTimes(cluster: Cluster): Promise<boolean> {
  const proxies = new Map<string, ChaosProxy>();
  for (const host of cluster.hosts) {
    const proxy = await startChaosProxy(host);
    proxy.delay(delayMillis);
    proxies.set(host.name, proxy);
  }
  const eventual = await open(cluster, proxies, 'eventual');
  const session = await open(cluster, proxies, 'session');
  console.log(`Time with ${delayMillis} ms of network each way, 'session' to 'eventual':`);

  let isAllowed = true;
  for (const [name, run] of Object.entries(work)) {
    const afterWrite = name === 'read of a session that wrote';
    // What a read finds is what was written long before; a session of its own else.
    const scoped = async (db: Knex): Promise<unknown> =>
      afterWrite ? run(db) : rwSplit(db).session({}, async () => run(db));
    const medians = await compare(
      [
        { name: 'eventual', run: async () => scoped(eventual) },
        { name: 'session', run: async () => scoped(session) },
      ],
      { rounds: 21, times: 10, meter: elapsed },
    );
    const ratio = medians.session / medians.eventual;
    isAllowed &&= ratio <= allowedRatio;
    report(name, ratio, `${medians.session.toFixed(2)} ms, at most ${allowedRatio}`);
  }

  await Promise.all([eventual.destroy(), session.destroy()]);
  for (const proxy of proxies.values()) await proxy.stop();
  return isAllowed;
}

/** The work of this process on loopback. */
async function compareWork(cluster: Cluster): Promise<void> {
  const plain = knex({ client: 'pg', connection: cluster.connection(), pool: { min: 0, max: 1 } });
  const eventual = await open(cluster, undefined, 'eventual');
  const session = await open(cluster, undefined, 'session');
  console.log('Processor time on loopback, to plain Knex:');

  for (const [name, run] of Object.entries(work)) {
    const medians = await compare(
      [
        { name: 'plain', run: async () => run(plain) },
        { name: 'eventual', run: async () => run(eventual) },
        { name: 'session', run: async () => run(session) },
      ],
      { rounds: 15, times: 200, meter: worked },
    );
    report(
      `${name}, 'eventual'`,
      medians.eventual / medians.plain,
      `${medians.eventual.toFixed(2)} ms`,
    );
    report(
      `${name}, 'session'`,
      medians.session / medians.plain,
      `${medians.session.toFixed(2)} ms`,
    );
  }
  await Promise.all([plain.destroy(), eventual.destroy(), session.destroy()]);
}

function report(name: string, ratio: number, more: string): void {
  console.log(`  ${name.padEnd(45)} ${ratio.toFixed(2)}  (${more})`);
}

async function main(): Promise<void> {
  const cluster = await startCluster();
  try {
    await createRoutingSchema(cluster);
    const isAllowed = await compareTimes(cluster);
    await compareWork(cluster);
    if (process.argv.includes('--check') && !isAllowed) process.exitCode = 1;
  } finally {
    await cluster.stop();
  }
}

void main();

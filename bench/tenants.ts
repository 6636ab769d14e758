import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../lib/index.ts';
import type { Cluster } from '../lib/testing/index.ts';
import { watchConnections } from '../test/support/tenant-connections.ts';
import { nameTenants, tenantSchema, type Tenants } from '../test/support/tenant-schema.ts';
import { isWithin } from './is-within.ts';
import { compare, worked } from './measure.ts';
import { delayMillis, slowly } from './slow-network.ts';

const tenantCount = 100;
const concurrency = 100;
const queries = 10_000;
const poolSizes = [5, 10, 20];
const allowedRatio = 1.1;
const allowedMicros = 20;

const work: Readonly<Record<string, (db: Knex) => PromiseLike<unknown>>> = {
  query: (db) => db('whose').select('name'),
  insert: (db) => db('written').insert({ by: 'bench' }),
  transaction: (db) => db.transaction(async (trx) => trx('written').insert({ by: 'bench' })),
};

function open(cluster: Cluster, { login }: Tenants, max: number, port?: number): Knex {
  return knex({
    client: RWSplitClient,
    connection: { ...cluster.connection(), ...login, ...(port !== undefined && { port }) },
    pool: { min: 0, max },
    rwSplit: { replicas: [], consistency: 'eventual' },
  });
}

/** Times with a network in between: in one tenant's state all along, and in another's each time. */
async function compareTimes(
  cluster: Cluster,
  tenants: Tenants,
  port: number | undefined,
): Promise<boolean> {
  const same = open(cluster, tenants, 1, port);
  const changing = open(cluster, tenants, 1, port);
  console.log(
    `Time with ${delayMillis} ms of network each way, with a change of state to without:`,
  );

  let isAllowed = true;
  for (const [name, run] of Object.entries(work)) {
    let turn = 0;
    const of = (db: Knex, tenant: string | undefined): Knex =>
      rwSplit(db).withState(tenants.state(tenant ?? ''));
    const isWell = await isWithin(
      allowedRatio,
      name,
      ['same', async () => run(of(same, tenants.names[0]))],
      ['changing', async () => run(of(changing, tenants.names[turn++ % 2]))],
    );
    isAllowed &&= isWell;
  }
  await Promise.all([same.destroy(), changing.destroy()]);
  return isAllowed;
}

/** The same load by a pool for each tenant, and by one for all. */
async function compareThroughput(cluster: Cluster, tenants: Tenants): Promise<void> {
  console.log(
    `${queries} queries of ${tenantCount} tenants, ${concurrency} at once:\n` +
      `  ${'pools'.padEnd(45)} connections  queries/s`,
  );
  const measure = async (name: string, of: (tenant: string) => Knex): Promise<void> => {
    const run = async (count: number): Promise<void> => {
      let left = count;
      const worker = async (_: unknown, number: number): Promise<void> => {
        // Each tenant has its turn; the worker's own number keeps them from marching in step.
        for (let turn = number; left > 0; turn += 7) {
          left--;
          await of(tenants.names[turn % tenantCount] ?? '')('whose').select('name');
        }
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
    };
    await run(queries / 5);
    const watch = watchConnections(cluster, tenants.login.user);
    const begin = performance.now();
    await run(queries);
    const perSecond = (queries / (performance.now() - begin)) * 1000;
    const most = Math.max(...Object.values(await watch.end()));
    console.log(
      `  ${name.padEnd(45)} ${String(most).padStart(11)}  ${perSecond.toFixed(0).padStart(9)}`,
    );
  };

  const plain = new Map(tenants.names.map((name) => [name, plainOf(cluster, tenants, name)]));
  await measure('plain Knex, a pool of 2 for each tenant', (name) => plain.get(name) ?? fail(name));
  await Promise.all([...plain.values()].map((db) => db.destroy()));

  for (const max of poolSizes) {
    const db = open(cluster, tenants, max);
    await measure(`withState(), one pool of ${max} for all`, (name) =>
      rwSplit(db).withState(tenants.state(name)),
    );
    await db.destroy();
  }
}

function fail(name: string): never {
  throw new Error(`There is no tenant "${name}".`);
}

function plainOf(cluster: Cluster, tenants: Tenants, name: string): Knex {
  type Done = (error?: Error | null) => void;
  interface Connection {
    query(text: string, values: readonly string[], done: Done): void;
  }
  const text = `select set_config('search_path', $1, false), set_config('app.tenant', $2, false), set_config('role', $2, false)`;
  return knex({
    client: 'pg',
    connection: { ...cluster.connection(), ...tenants.login },
    pool: {
      min: 0,
      max: 2,
      afterCreate: (connection: Connection, done: Done) =>
        connection.query(text, [`"${name}", app`, name], done),
    },
  });
}

/** The work of asking for an instance, which each request does: where its state is remembered, and where not. */
async function measureInstances(cluster: Cluster, tenants: Tenants): Promise<boolean> {
  const db = open(cluster, tenants, 1);
  let next = 0;
  const ask = (tenant: string): void => void rwSplit(db).withState(tenants.state(tenant));
  // One after the other: what new instances leave to the garbage collector is not the others' doing.
  const known = await workOf(async () => ask(tenants.names[next++ % tenantCount] ?? ''), 10_000);
  const made = await workOf(async () => ask(`new${next++}`), 1000);
  await db.destroy();
  console.log('Processor time of withState():');
  console.log(`  a state that is remembered ${micros(known)}, at most ${allowedMicros}`);
  console.log(`  a new one ${micros(made)}`);
  return known * 1000 <= allowedMicros;
}

async function workOf(run: () => Promise<void>, times: number): Promise<number> {
  const rounds = { rounds: 20, times, meter: worked, quantile: 0.5 };
  const { it } = await compare([{ name: 'it', run }], rounds);
  return it;
}

function micros(millis: number): string {
  return `${(millis * 1000).toFixed(1)} µs`;
}

/**
 * Measures what session states cost, and what they save.
 *
 * @returns whether the cost is no more than it may be.
 */
export async function benchTenants(cluster: Cluster): Promise<boolean> {
  const tenants = nameTenants(tenantCount);
  await cluster.primary.query(tenantSchema(tenants));
  await cluster.waitForReplay();

  const isQuick = await slowly(cluster, ([port]) => compareTimes(cluster, tenants, port));
  const isCheap = await measureInstances(cluster, tenants);
  await compareThroughput(cluster, tenants);
  return isQuick && isCheap;
}

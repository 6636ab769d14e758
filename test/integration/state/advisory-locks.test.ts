import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { untilIdle } from '../../support/instances.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { useTenants } from '../../support/tenants.ts';

/** A `pg` client, as an application uses it by hand. */
interface Client {
  query(text: string): Promise<unknown>;
}

const lock = 'select pg_advisory_lock(56)';
const doLock = 'do $$ begin perform pg_advisory_lock(56); end $$';
const callLock = 'call app.take_lock()';

// Nobody keeps a connection for a lock that is taken where its text doesn't say so.
const unseenLocks: readonly (readonly [string, (tenant: Knex) => PromiseLike<unknown>])[] = [
  ['do', async (tenant) => tenant.raw(doLock)],
  ['do, in a transaction', async (tenant) => tenant.transaction(async (trx) => trx.raw(doLock))],
  ['a procedure', async (tenant) => tenant.raw(callLock)],
  [
    'a procedure, in a transaction',
    async (tenant) => tenant.transaction(async (trx) => trx.raw(callLock)),
  ],
  [
    'hand',
    async ({ client }) => {
      const connection = (await client.acquireConnection()) as Client;
      await connection.query(lock);
      await client.releaseConnection(connection);
    },
  ],
  [
    'hand, by a function',
    async ({ client }) => {
      const connection = (await client.acquireConnection()) as Client;
      await connection.query('select app.hold()');
      await client.releaseConnection(connection);
    },
  ],
  [
    'pool.acquire()',
    async ({ client: { pool } }) => {
      const connection = (await pool.acquire().promise) as Client;
      await connection.query(lock);
      pool.release(connection);
    },
  ],
  [
    'Knex, on what pool.acquire() gave',
    async (tenant) => {
      const { pool } = tenant.client;
      const connection: object = await pool.acquire().promise;
      await tenant.raw(lock).connection(connection);
      pool.release(connection);
    },
  ],
];

describe('An advisory lock taken in a tenant’s state', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 2);
  const splits = useSplit(cluster);
  const [one = '', other = ''] = tenants.names;

  beforeAll(async () => {
    await cluster().primary.query(`
      create procedure app.take_lock() language plpgsql as $$
        begin perform pg_advisory_lock(56); end $$;
      create function app.hold() returns void language plpgsql as $$
        begin perform pg_advisory_lock(56); end $$;
      create procedure app.report() language plpgsql as $$ begin
        create temp table whose on commit preserve rows as select 'a secret'::text as name;
        grant all on whose to public; end $$;
      grant execute on all routines in schema app to public;`);
  });

  const start = (): Knex =>
    splits.cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { replicas: replicasOf(cluster()), target: 'primary' },
      pool: { max: 1 },
    }).db;
  const of = (db: Knex, name: string): Knex => rwSplit(db).withState(tenants.state(name));
  const locks = async (): Promise<number> =>
    (await cluster().primary.query("select 1 from pg_locks where locktype = 'advisory'")).length;

  it('is kept and given back, whoever does so, and its connection leaks nothing', async () => {
    const db = start();

    await of(db, one).raw('select pg_advisory_lock(55)');
    expect(await viewQuery(of(db, other))).toEqual([viewOf(other)]);
    expect(await locks()).toBe(1);

    const { rows } = await of(db, other).raw(
      'select pg_advisory_unlock(55) as ok, current_user as role',
    );
    expect(rows).toEqual([{ ok: true, role: other }]);
    expect(await locks()).toBe(0);
    expect(await viewQuery(of(db, one))).toEqual([viewOf(one)]);
    expect(await viewQuery(of(db, other))).toEqual([viewOf(other)]);
  });

  it.each(unseenLocks)('reaches nobody else where it was taken by %s', async (_, take) => {
    const db = start();
    await viewQuery(of(db, one));

    await take(of(db, one));
    await untilIdle(db);

    const held = "select 1 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()";
    expect((await of(db, other).raw(held)).rows).toEqual([]);
    expect(await locks()).toBe(0);
  });

  it.each([
    [
      'by a transaction',
      async (tenant: Knex): Promise<void> => {
        await tenant.transaction(async (trx) => {
          await trx.raw('select pg_advisory_lock(57)');
          await trx.raw('call app.report()');
        });
        await tenant.raw('select pg_advisory_unlock(57)');
      },
    ],
    [
      'behind its unlock',
      async (tenant: Knex): Promise<void> => {
        await tenant.raw('select pg_advisory_lock(57)');
        await tenant.raw('select pg_advisory_unlock(57); call app.report()');
      },
    ],
  ])('leaves nothing behind that code left on its connection: %s', async (_, leave) => {
    const db = start();

    await leave(of(db, one));

    expect(await viewQuery(of(db, other))).toEqual([viewOf(other)]);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { untilIdle } from '../../support/instances.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { useTenants } from '../../support/tenants.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';

type Way = (tenant: Knex) => PromiseLike<unknown>;

// What one tenant may do to the session that the next one gets.
const ways: readonly (readonly [string, Way])[] = [
  ['a query', (tenant) => viewQuery(tenant)],
  ['an error', (tenant) => tenant.raw('select 1/0')],
  ['an error of the syntax', (tenant) => tenant.raw('select from where')],
  [
    'an error after the first row',
    (tenant) => tenant.raw('select 1/(5-i) from generate_series(1,9) i'),
  ],
  ['a constraint that fails at the end', deferred],
  ['a cancel', (tenant) => tenant.raw('select pg_sleep(2)').timeout(20, { cancel: true })],
  ['a timeout without a cancel', (tenant) => tenant.raw('select pg_sleep(0.1)').timeout(20)],
  [
    'a timeout of the server',
    (tenant) =>
      rwSplit(tenant)
        .withState({ settings: { statement_timeout: 20 } })
        .raw('select pg_sleep(2)'),
  ],
  ['a killed session', (tenant) => tenant.raw('select pg_terminate_backend(pg_backend_pid())')],
  ['SET', (tenant) => tenant.raw("set app.tenant = 'stranger'")],
  ['SET ROLE', (tenant) => tenant.raw('set role none')],
  ['SET SESSION AUTHORIZATION', (tenant) => tenant.raw('set session authorization default')],
  ['RESET', (tenant) => tenant.raw('reset search_path')],
  ['RESET ROLE', (tenant) => tenant.raw('reset role')],
  ['RESET ALL', (tenant) => tenant.raw('reset all')],
  ['DISCARD ALL', (tenant) => tenant.raw('discard all')],
  ['set_config', (tenant) => tenant.raw("select set_config('app.tenant', 'stranger', false)")],
  [
    'set_config in a query that fails',
    (tenant) => tenant.raw("select set_config('app.tenant', 'stranger', false), 1/0"),
  ],
  [
    'set_config in a builder',
    (tenant) => tenant.select(tenant.raw("set_config('app.tenant', ?, false)", ['stranger'])),
  ],
  ['several statements', (tenant) => tenant.raw('select 1; set role none; select 1/0')],
  [
    'DO',
    (tenant) => tenant.raw("do $$ begin perform set_config('lock_timeout', '77', false); end $$"),
  ],
  [
    'DO with hidden text',
    (tenant) => tenant.raw("do $$ begin execute 'se' || 't role none'; end $$"),
  ],
  ['PREPARE', (tenant) => tenant.raw('prepare one as select 1')],
  ['LISTEN', (tenant) => tenant.raw('listen news')],
  ['SET in a transaction', (tenant) => tenant.transaction((trx) => trx.raw('set role none'))],
  [
    'SET rolled back',
    (tenant) =>
      tenant.transaction(async (trx) => {
        await trx.raw('set role none');
        throw new Error('rolled back');
      }),
  ],
  [
    'SET LOCAL',
    (tenant) => tenant.transaction((trx) => trx.raw("set local app.tenant = 'stranger'")),
  ],
  [
    'SET in a savepoint rolled back',
    (tenant) =>
      tenant.transaction(async (trx) => {
        await Promise.allSettled([
          trx.transaction(async (nested) => {
            await nested.raw('set role none');
            throw new Error('rolled back');
          }),
        ]);
      }),
  ],
  ['a failed transaction', (tenant) => tenant.transaction((trx) => trx.raw('select 1/0'))],
  [
    'a transaction left open',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await connection.query('begin');
      await connection.query("set local app.tenant = 'stranger'");
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'a connection taken by hand',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await connection.query('set role none');
      await connection.query('set search_path to public');
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'a connection of the pool',
    async (tenant) => {
      const { pool } = tenant.client;
      const connection = await pool.acquire().promise;
      await connection.query("select set_config('app.tenant', 'stranger', false)");
      pool.release(connection);
    },
  ],
  [
    'a stream that is closed early',
    async (tenant) => {
      const stream = tenant.raw('select generate_series(1, 100000)').stream();
      stream.on('error', () => undefined);
      await new Promise((resolve) => stream.once('data', resolve));
      stream.destroy();
    },
  ],
  [
    'a stream that fails',
    async (tenant) => {
      for await (const _ of tenant.raw('select 1/(5-i) from generate_series(1,9) i').stream());
    },
  ],
];

async function deferred(tenant: Knex): Promise<void> {
  await tenant('app.twice').insert([{ id: 1 }, { id: 1 }]);
}

describe('The state of one tenant', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 2);
  const splits = useSplit(cluster);
  const [one = '', other = ''] = tenants.names;

  const start = (target: 'primary' | 'replica'): Knex => {
    const [replica] = replicasOf(cluster());
    if (replica === undefined) throw new Error('The cluster has a replica.');
    return splits.cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { target, replicas: [replica], consistency: 'eventual' },
      pool: { max: 1 },
    }).db;
  };
  const of = (db: Knex, name: string): Knex => rwSplit(db).withState(tenants.state(name));

  it.each(
    (['primary', 'replica'] as const).flatMap((target) =>
      ways.map(([name, way]) => [name, target, way] as const),
    ),
  )('does not leak by %s, on a %s', async (_, target, way) => {
    const db = start(target);
    const nobody = async (): Promise<unknown> =>
      (
        await db.raw(
          "select current_user as role, coalesce(current_setting('app.tenant', true), '') as setting, current_setting('search_path') as path, current_setting('lock_timeout') as wait",
        )
      ).rows;

    // The other way round, too: whatever changes then is left first.
    for (const [before, after] of [
      [other, one],
      [one, one],
      [one, other],
    ] as const) {
      await viewQuery(of(db, before));
      await Promise.allSettled([way(of(db, one))]);
      await untilIdle(db);
      expect(await viewQuery(of(db, after))).toEqual([viewOf(after)]);
      await Promise.allSettled([way(of(db, one))]);
      await untilIdle(db);
      const began = [{ role: tenants.login.user, setting: '', path: '"$user", public', wait: '0' }];
      expect(await nobody()).toEqual(began);
    }
  });
});

import type { Knex } from 'knex';
import { rwSplit } from '../../lib/index.ts';
import { copyIn } from './tenant-copy.ts';
import { viewQuery } from './tenant-view.ts';

/** Something that a tenant does, which may change the session that the next one gets. */
export type Way = (tenant: Knex) => PromiseLike<unknown>;

type Outcome = string | readonly [onPrimary: string, onReplica: string];

// Too long for it to be read.
const padding = `/* ${'-'.repeat(33 * 1024)} */`;

/** What tenants do, and what comes of it: `done`, or what the error says of itself. */
export const tenantWays: readonly (readonly [name: string, Outcome, Way])[] = [
  ['a query', 'done', (tenant) => viewQuery(tenant)],
  ['an error', '22012', (tenant) => tenant.raw('select 1/0')],
  ['an error of the syntax', '42601', (tenant) => tenant.raw('select from where')],
  [
    'an error after the first row',
    '22012',
    (tenant) => tenant.raw('select 1/(5-i) from generate_series(1,9) i'),
  ],
  ['a constraint that fails at the end', ['23505', '25006'], deferred],
  [
    'a cancel',
    'KnexTimeoutError',
    (tenant) => tenant.raw('select pg_sleep(2)').timeout(20, { cancel: true }),
  ],
  [
    'a timeout without a cancel',
    'KnexTimeoutError',
    (tenant) => tenant.raw('select pg_sleep(0.1)').timeout(20),
  ],
  [
    'a timeout of the server',
    '57014',
    (tenant) =>
      rwSplit(tenant)
        .withState({ settings: { statement_timeout: 20 } })
        .raw('select pg_sleep(2)'),
  ],
  ['a killed session', '57P01', (tenant) => tenant.raw('select app.end_session()')],
  ['SET', 'done', (tenant) => tenant.raw("set app.tenant = 'stranger'")],
  ['SET ROLE', 'done', (tenant) => tenant.raw('set role none')],
  [
    'SET SESSION AUTHORIZATION',
    'done',
    (tenant) => tenant.raw('set session authorization default'),
  ],
  ['RESET', 'done', (tenant) => tenant.raw('reset search_path')],
  ['RESET ROLE', 'done', (tenant) => tenant.raw('reset role')],
  ['RESET ALL', 'done', (tenant) => tenant.raw('reset all')],
  ['DISCARD ALL', 'done', (tenant) => tenant.raw('discard all')],
  [
    'set_config',
    'done',
    (tenant) => tenant.raw("select set_config('app.tenant', 'stranger', false)"),
  ],
  [
    'set_config in a query that fails',
    '22012',
    (tenant) => tenant.raw("select set_config('app.tenant', 'stranger', false), 1/0"),
  ],
  [
    'set_config in a builder',
    'done',
    (tenant) => tenant.select(tenant.raw("set_config('app.tenant', ?, false)", ['stranger'])),
  ],
  ['several statements', '22012', (tenant) => tenant.raw('select 1; set role none; select 1/0')],
  [
    'DO',
    'done',
    (tenant) => tenant.raw("do $$ begin perform set_config('lock_timeout', '77', false); end $$"),
  ],
  [
    'DO with hidden text',
    'done',
    (tenant) => tenant.raw("do $$ begin execute 'se' || 't role none'; end $$"),
  ],
  ['PREPARE', 'done', (tenant) => tenant.raw('prepare one as select 1')],
  ['LISTEN', ['done', '25006'], (tenant) => tenant.raw('listen news')],
  [
    'SET in a transaction',
    'done',
    (tenant) => tenant.transaction((trx) => trx.raw('set role none')),
  ],
  [
    'SET rolled back',
    'rolled back',
    (tenant) =>
      tenant.transaction(async (trx) => {
        await trx.raw('set role none');
        throw new Error('rolled back');
      }),
  ],
  [
    'SET LOCAL',
    'done',
    (tenant) => tenant.transaction((trx) => trx.raw("set local app.tenant = 'stranger'")),
  ],
  [
    'SET in a savepoint rolled back',
    'done',
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
  ['a failed transaction', '22012', (tenant) => tenant.transaction((trx) => trx.raw('select 1/0'))],
  [
    'a transaction left open',
    'done',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await connection.query('begin');
      await connection.query("set local app.tenant = 'stranger'");
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'a connection taken by hand',
    'done',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await connection.query('set role none');
      await connection.query('set search_path to public');
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'a connection of the pool',
    'done',
    async (tenant) => {
      const { pool } = tenant.client;
      const connection = await pool.acquire().promise;
      await connection.query("select set_config('app.tenant', 'stranger', false)");
      pool.release(connection);
    },
  ],
  [
    'a stream that is closed early',
    'done',
    async (tenant) => {
      const stream = tenant.raw('select generate_series(1, 100000)').stream();
      stream.on('error', () => undefined);
      await new Promise((resolve) => stream.once('data', resolve));
      stream.destroy();
    },
  ],
  [
    'a stream that fails',
    '22012',
    async (tenant) => {
      for await (const _ of tenant.raw('select 1/(5-i) from generate_series(1,9) i').stream());
    },
  ],
  ['RESET SESSION AUTHORIZATION', 'done', (tenant) => tenant.raw('reset session authorization')],
  ['SET TIME ZONE', 'done', (tenant) => tenant.raw("set time zone 'Asia/Tokyo'")],
  ['SET NAMES', 'done', (tenant) => tenant.raw("set names 'latin1'")],
  [
    'SET SESSION CHARACTERISTICS',
    'done',
    (tenant) => tenant.raw('set session characteristics as transaction read only'),
  ],
  ['several statements with a SET', 'done', (tenant) => tenant.raw('select 1; set role none')],
  [
    'set_config in a CTE',
    'done',
    (tenant) =>
      tenant.raw("with x as (select set_config('app.tenant', 'stranger', false)) select * from x"),
  ],
  [
    'set_config in EXPLAIN ANALYZE',
    'done',
    (tenant) => tenant.raw("explain analyze select set_config('app.tenant', 'stranger', false)"),
  ],
  [
    'set_config in an insert',
    ['done', '25006'],
    (tenant) =>
      tenant('copied').insert({ text: tenant.raw("set_config('app.tenant', 'stranger', false)") }),
  ],
  [
    'an update of pg_settings',
    ['done', '25006'],
    (tenant) => tenant('pg_settings').where({ name: 'lock_timeout' }).update({ setting: '77' }),
  ],
  ['a procedure', 'done', (tenant) => tenant.raw('call app.change()')],
  ['a function that the server reports', 'done', (tenant) => tenant.raw('select app.drift()')],
  [
    'a temporary table',
    ['done', '25006'],
    (tenant) => tenant.raw("create temporary table whose as select 'stranger'::text as name"),
  ],
  [
    'SELECT INTO a temporary table',
    ['done', '25006'],
    (tenant) => tenant.raw("select 'stranger'::text as name into temp whose"),
  ],
  [
    'a temporary table of a builder',
    ['done', '25006'],
    (tenant) => tenant.schema.raw("create temp table whose as select 'stranger'::text as name"),
  ],
  [
    'SELECT INTO pg_temp in a transaction',
    ['done', '25006'],
    (tenant) =>
      tenant.transaction((trx) => trx.raw("select 'stranger'::text as name into pg_temp.whose")),
  ],
  [
    'a table in a search path of temporary ones',
    ['done', '25006'],
    (tenant) =>
      tenant.transaction(async (trx) => {
        await trx.raw('set local search_path to pg_temp');
        await leaveTable(trx);
      }),
  ],
  [
    'a table in a bound search path of temporary ones',
    ['done', '25006'],
    (tenant) =>
      tenant.transaction(async (trx) => {
        await trx.raw("select set_config('search_path', ?, true)", ['pg_temp']);
        await leaveTable(trx);
      }),
  ],
  [
    'a table in a search path of temporary ones, all in one',
    ['done', '25006'],
    (tenant) =>
      tenant.schema.raw(
        "set local search_path to pg_temp; create table whose as select 'stranger'::text as name",
      ),
  ],
  [
    'SELECT INTO a temporary table in a long text',
    ['done', '25006'],
    (tenant) => tenant.raw(`select 'stranger'::text as name into temp whose ${padding}`),
  ],
  [
    'a temporary view in a long text',
    ['done', '25006'],
    (tenant) =>
      tenant.raw(`create or replace temp view whose as select 'stranger'::text as name ${padding}`),
  ],
  [
    'SET ROLE in a text that a function runs',
    'done',
    (tenant) =>
      tenant.raw(
        "select query_to_xml('select set_config(''role'', ''none'', false)', true, false, '')",
      ),
  ],
  [
    'set_config in a bound text that a function runs',
    'done',
    (tenant) =>
      tenant.raw("select query_to_xml(?, true, false, '')", [
        "select set_config('app.tenant', 'stranger', false)",
      ]),
  ],
  [
    'set_config in a change of a table',
    ['done', '25006'],
    (tenant) =>
      tenant.raw(
        "alter table whose alter name type text using name || left(set_config('app.tenant', 'stranger', false), 0)",
      ),
  ],
  [
    'set_config written in numbers',
    'done',
    (tenant) =>
      tenant.transaction((trx) =>
        trx.select(trx.raw(`U&"set!005fconfig" uescape '!' ('app.tenant', 'stranger', false)`)),
      ),
  ],
  [
    'a lock taken by hand',
    'done',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await connection.query('select pg_advisory_lock(7)');
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'a lock that DO takes',
    'done',
    (tenant) => tenant.raw('do $$ begin perform pg_advisory_lock(7); end $$'),
  ],
  [
    'a lock in a text that a function runs',
    'done',
    (tenant) =>
      tenant.raw("select query_to_xml(?, true, false, '')", ['select pg_advisory_lock(7)']),
  ],
  [
    'a cursor WITH HOLD',
    'done',
    (tenant) => tenant.transaction((trx) => trx.raw('declare held cursor with hold for select 1')),
  ],
  ['COPY', ['done', '25006'], (tenant) => copyIn(tenant, 'copy copied (text) from stdin', 'x\n')],
  [
    'COPY that fails',
    ['42703', '25006'],
    (tenant) => copyIn(tenant, 'copy copied (nothing) from stdin', 'x\n'),
  ],
  ['COPY to nobody', 'done', (tenant) => tenant.raw('copy (select name from whose) to stdout')],
  ['COPY from nobody', ['57014', '25006'], (tenant) => tenant.raw('copy copied (text) from stdin')],
  [
    'inserts in batches',
    ['done', '25006'],
    (tenant) => tenant.batchInsert('copied', [{ text: 'a' }, { text: 'b' }], 1),
  ],
  [
    'a failed transaction by hand',
    'done',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await connection.query('begin');
      await connection.query("set local app.tenant = 'stranger'");
      await Promise.allSettled([connection.query('select 1/0')]);
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'a statement prepared by name',
    'done',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await connection.query({ name: 'mine', text: 'select name from whose' });
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'SET on a connection given',
    'done',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      await tenant.raw('set role none').connection(connection);
      await tenant.client.releaseConnection(connection);
    },
  ],
  [
    'a query left running on a connection',
    'done',
    async (tenant) => {
      const connection = await tenant.client.acquireConnection();
      connection
        .query("select pg_sleep(0.1), set_config('app.tenant', 'stranger', false)")
        .catch(() => undefined);
      await tenant.client.releaseConnection(connection);
    },
  ],
  ['a migration', ['done', '25006|MigrationLocked'], migrate],
  ['a seed', 'done', seed],
];

async function leaveTable(trx: Knex.Transaction): Promise<void> {
  await trx.schema.createTable('whose', (table) => table.text('name'));
  await trx('whose').insert({ name: 'stranger' });
}

async function deferred(tenant: Knex): Promise<void> {
  await tenant('app.twice').insert([{ id: 1 }, { id: 1 }]);
}

async function migrate(tenant: Knex): Promise<void> {
  const migrationSource: Knex.MigrationSource<string> = {
    getMigrations: async () => ['one'],
    getMigrationName: (migration) => migration,
    getMigration: async () => ({
      up: async (trx) => trx.raw("set app.tenant = 'stranger'"),
      down: async (trx) => trx.raw('set role none'),
    }),
  };
  await tenant.migrate.latest({ migrationSource });
  await tenant.migrate.rollback({ migrationSource });
}

async function seed(tenant: Knex): Promise<void> {
  const seedSource: Knex.SeedSource<string> = {
    getSeeds: async () => ['one'],
    getSeed: async () => ({ seed: async (by) => by.raw("set app.tenant = 'stranger'") }),
  };
  await tenant.seed.run({ seedSource });
}

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit, SessionStateError, type StateOptions } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { untilIdle, useInstances } from '../../support/instances.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { useTenants } from '../../support/tenants.ts';

/** A `pg` client, as an application uses it by hand. */
interface Client {
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

interface PlainClient {
  query(text: string, done: (error?: unknown) => void): void;
}

describe('What changes a session unseen', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 2);
  const splits = useSplit(cluster);
  const instances = useInstances(cluster);
  const [one = '', two = ''] = tenants.names;

  const start = ({ pool, rwSplit: more, ...config }: Knex.Config = {}): Knex => {
    const [replica] = replicasOf(cluster());
    if (replica === undefined) throw new Error('The cluster has a replica.');
    return splits.cold({
      ...config,
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { target: 'primary', replicas: [replica], consistency: 'eventual', ...more },
      pool: { max: 1, ...pool },
    }).db;
  };
  const of = (db: Knex, name: string): Knex => rwSplit(db).withState(tenants.state(name));
  const inSettings = (db: Knex, settings: StateOptions['settings'] = {}): Knex =>
    rwSplit(db).withState({ settings });
  const take = async (db: Knex): Promise<Client> => (await db.client.acquireConnection()) as Client;
  const giveBack = (db: Knex, client: Client): Promise<void> => db.client.releaseConnection(client);
  const who = `select current_user as role, coalesce(current_setting('app.tenant', true), '') as tenant`;

  it('leaves with its connection, where a transaction handed that out', async () => {
    const db = start();
    await of(db, one).transaction(async (trx) => {
      const client = await take(trx);
      await client.query('set role none');
      await client.query("set app.tenant = 'stranger'");
    });

    expect(await viewQuery(of(db, one))).toEqual([viewOf(one)]);
  });

  it.each([
    ['by hand', (tenant: Knex): Promise<Client> => take(tenant)],
    ['by a transaction', (tenant: Knex): Promise<Client> => tenant.transaction(take)],
  ])('leaves with its connection, where that was given back %s before', async (how, taken) => {
    const db = start();
    const client = await taken(of(db, one));
    if (how === 'by hand') await giveBack(db, client);
    await untilIdle(db);

    await client.query('set role none');
    await client.query('begin');

    expect(await viewQuery(of(db, one))).toEqual([viewOf(one)]);
    expect(await viewQuery(of(db, two))).toEqual([viewOf(two)]);
  });

  it('leaves with its connection, where it came before any state was wanted', async () => {
    const db = start();
    const client = await take(db);
    await client.query(`set role "${one}"`);
    await giveBack(db, client);
    await db.raw("do $$ begin perform set_config('app.tenant', 'stranger', false); end $$");

    const { rows } = await inSettings(db, { 'app.other': '1' }).raw(who);

    expect(rows).toEqual([{ role: tenants.login.user, tenant: '' }]);
  });

  it.each(['do $$ begin end $$', 'call app.nothing_of_the_kind()'])(
    'keeps what a connection was opened with: %s',
    async (code) => {
      const db = await instances.split({
        connection: { ...cluster().connection(), ...tenants.login },
        rwSplit: { target: 'primary' },
        pool: {
          min: 0,
          max: 1,
          afterCreate(client: PlainClient, done: (error?: unknown) => void) {
            client.query(`set role "${one}"; set search_path to app`, done);
          },
        },
      });
      const state = inSettings(db, { 'app.tenant': 'x' });
      const look = async (from: Knex): Promise<unknown> =>
        (await from.raw(`${who}, current_setting('search_path') as path`)).rows;
      expect(await look(state)).toEqual([{ role: one, tenant: 'x', path: 'app' }]);

      await Promise.allSettled([state.raw(code)]);

      expect(await look(state)).toEqual([{ role: one, tenant: 'x', path: 'app' }]);
      expect(await look(db)).toEqual([{ role: one, tenant: '', path: 'app' }]);
    },
  );

  it('does no harm to what waits behind an error when its connection is given back', async () => {
    const db = start();
    await viewQuery(of(db, one));
    const client = await take(of(db, two));

    const failing = client.query('select 1/(1-i) from pg_sleep(0.1), generate_series(1, 1) i');
    const waiting = client.query(who);
    await giveBack(db, client);

    await expect(failing).rejects.toThrow('division by zero');
    expect((await waiting).rows).toEqual([{ role: two, tenant: two }]);
  });

  it('lets nothing run where the state failed, be it queued or sent later', async () => {
    const db = start();
    await viewQuery(of(db, one));
    const client = await take(rwSplit(db).withState({ role: 'nobody_at_all' }));

    const results = await Promise.allSettled(['begin', who].map((text) => client.query(text)));
    const later = await client.query(who).catch((error: unknown) => error);
    await giveBack(db, client);

    expect(results).toEqual([
      { status: 'rejected', reason: expect.any(SessionStateError) },
      { status: 'rejected', reason: expect.any(SessionStateError) },
    ]);
    expect(later).toBeInstanceOf(SessionStateError);
    expect(await viewQuery(of(db, two))).toEqual([viewOf(two)]);
  });

  it('is found where code waits behind what changes the state', async () => {
    await cluster().primary.query(`
      create procedure app.become(name text) language plpgsql as $$
        begin perform set_config('role', name, false); perform set_config('app.tenant', name, false); end $$;
      grant execute on procedure app.become(text) to public;`);
    const db = start();
    await viewQuery(of(db, two));
    const client = await take(of(db, one));

    const texts = ['select pg_sleep(0.05)', 'select 2', `call app.become('${two}')`];
    await Promise.all(texts.map((text) => client.query(text)));
    await giveBack(db, client);
    await untilIdle(db);

    expect(await viewQuery(of(db, one))).toEqual([viewOf(one)]);
  });

  it('is undone where a procedure sets what nobody had set before', async () => {
    await cluster().primary.query(`
      create procedure app.whisper() language plpgsql as $$
        begin perform set_config('app.secret', 'of one', false); end $$;
      grant execute on procedure app.whisper() to public;`);
    const db = start();

    await of(db, one).raw('call app.whisper()');
    await inSettings(db, { 'app.secret': 'wanted' }).raw('select 1');

    const secret = "select coalesce(current_setting('app.secret', true), '') as secret";
    expect((await db.raw(secret)).rows).toEqual([{ secret: '' }]);
  });

  it('is nothing that fails the unlocks of others', async () => {
    const db = start({ pool: { max: 3 } });
    await of(db, one).raw('select pg_advisory_lock(41)');

    const unlock = rwSplit(db).withState({ role: 'nobody_at_all' });
    await expect(unlock.raw('select pg_advisory_unlock(41)')).rejects.toThrow(SessionStateError);

    const { rows } = await of(db, two).raw('select pg_advisory_unlock(41) as unlocked');
    expect(rows).toEqual([{ unlocked: true }]);
  });

  it('goes to the primary where it wants serializable transactions', async () => {
    const db = start({ rwSplit: { target: 'split' } });
    const state = inSettings(db, { default_transaction_isolation: 'serializable' });
    const server = "select current_setting('cluster_name') as server";

    expect((await state.raw(server)).rows).toEqual([{ server: 'primary' }]);
    const rows = await state.transaction(async (trx) => (await trx.raw(server)).rows, {
      readOnly: true,
    });
    expect(rows).toEqual([{ server: 'primary' }]);
  });

  it('is no matter for connections that were taken before', async () => {
    const db = start({ pool: { max: 2 } });
    const client = await take(db);
    await viewQuery(of(db, one));

    const { rows } = await db.raw(who).connection(client);
    await giveBack(db, client);

    expect(rows).toEqual([{ role: tenants.login.user, tenant: '' }]);
  });

  it.each([
    ['a cursor', 'declare held cursor with hold for select 1', 'fetch all from held'],
    ['a prepared statement', 'prepare held as select 1', 'execute held'],
  ])('is found where a procedure leaves %s', async (_, leave, use) => {
    await cluster().primary.query(`
      create or replace procedure app.leave() language plpgsql as $$ begin execute '${leave}'; end $$;
      grant execute on procedure app.leave() to public;`);
    const db = start();

    await of(db, one).raw('call app.leave()');
    await untilIdle(db);

    await expect(of(db, two).raw(use)).rejects.toThrow('does not exist');
  });

  it('is no matter for a transaction that is sent at once', async () => {
    const db = start();
    await viewQuery(of(db, one));
    const client = await take(of(db, two));

    await cluster().primary.query(`
      create procedure app.nothing() language plpgsql as $$ begin null; end $$;
      grant execute on procedure app.nothing() to public;`);
    const [, answer, , end] = await Promise.all(
      ['begin', who, 'call app.nothing()', 'commit'].map((text) => client.query(text)),
    );
    await giveBack(db, client);

    expect(answer?.rows).toEqual([{ role: two, tenant: two }]);
    expect(end).toMatchObject({ command: 'COMMIT' });
  });

  it('is found where a procedure made a temporary table', async () => {
    await cluster().primary.query(`
      create procedure app.report() language plpgsql as $$
        begin create temp table if not exists report as select current_user as role; end $$;
      grant execute on procedure app.report() to public;`);
    const db = start();

    await of(db, one).raw('call app.report()');
    await untilIdle(db);

    await expect(of(db, two).raw('select * from report')).rejects.toThrow('does not exist');
  });

  it.each([
    ['a procedure', 'call app.scratch()'],
    ['a search path', "select set_config('search_path', 'pg_temp', true)"],
  ])('is nothing where temporary tables end with their transaction: %s', async (_, text) => {
    await cluster().primary.query(`
      create or replace procedure app.scratch() language plpgsql as $$
        begin create temp table scratch on commit drop as select 1; end $$;`);
    const db = start();
    const pid = async (): Promise<unknown> =>
      (await of(db, two).raw('select pg_backend_pid() as pid')).rows;
    const before = await pid();

    await of(db, one).transaction(async (trx) => {
      await trx.raw(text);
      await trx.raw('create temp table gone on commit drop as select 1');
    });

    expect(await pid()).toEqual(before);
  });

  it.each([
    ['a function', "create function pg_temp.own() returns int language sql as 'select 1'"],
    ['a type', "create type pg_temp.own as enum ('a')"],
    ['a text search dictionary', 'create text search dictionary pg_temp.own (template = simple)'],
  ])('is found where a procedure has made %s', async (_, create) => {
    await cluster().primary.query(`
      create or replace procedure app.make() language plpgsql as $$ begin ${create}; end $$;`);
    const db = start();

    await of(db, one).raw('call app.make()');
    await untilIdle(db);

    const { rows } = await of(db, two).raw('select pg_my_temp_schema()::int as schema');
    expect(rows).toEqual([{ schema: 0 }]);
  });

  it('is found where pg_settings is written', async () => {
    const db = start();

    await of(db, one).raw("update pg_settings set setting = '77' where name = 'lock_timeout'");
    await of(db, one)('pg_settings').where({ name: 'work_mem' }).update({ setting: '77' });

    const settings = `select current_setting('lock_timeout') as wait, current_setting('work_mem') as memory`;
    const { rows } = await of(db, two).raw(settings);
    expect(rows).toEqual([{ wait: '0', memory: '4MB' }]);
  });

  it('is put right where a role was made anew', async () => {
    const role = `${one}_again`;
    const make = `create role "${role}"; grant "${role}" to "${tenants.login.user}"; grant select on app.items to "${role}"; grant usage on schema app to "${role}"`;
    const drop = `drop owned by "${role}"; drop role "${role}"`;
    await cluster().primary.query(make);
    const db = start();
    const tenant = rwSplit(db).withState({ role });
    try {
      await tenant.raw('select count(*) from app.items');
      await cluster().primary.query(drop);
      await cluster().primary.query(make);

      await Promise.allSettled([tenant.raw('select count(*) from app.items')]);

      const { rows } = await tenant.raw('select count(*)::int as count from app.items');
      expect(rows).toEqual([{ count: 0 }]);
    } finally {
      await db.destroy();
      await cluster().primary.query(drop);
    }
  });

  it.each(['select $1::int', 'select 1 where $1'])(
    'keeps no error of the server from whoever binds nothing: %s',
    async (text) => {
      const db = start();

      const failing = db.transaction(async () => undefined).then(() => of(db, one).raw(text));

      await expect(failing).rejects.toMatchObject({
        code: '42P02',
        position: String(text.indexOf('$1') + 1),
      });
      expect(await viewQuery(of(db, one))).toEqual([viewOf(one)]);
    },
  );

  it('does not outlive a time limit of its transaction', async () => {
    const db = start();

    await inSettings(db, { transaction_timeout: 100 }).raw('select 1');
    const slow = inSettings(db, { transaction_timeout: 20_000 }).raw('select pg_sleep(0.3)');

    await expect(slow).resolves.toBeDefined();
  });

  it('does not mix with the style of another date', async () => {
    const db = start();
    const date = "select '01/02/2024'::date::text as date";

    await inSettings(db, { datestyle: 'SQL, DMY' }).raw(date);

    expect((await inSettings(db, { datestyle: 'ISO' }).raw(date)).rows).toEqual([
      { date: '2024-01-02' },
    ]);
  });

  it('does not keep a replica serializable, which it can not be', async () => {
    const db = start({ rwSplit: { target: 'replica' } });
    const isolation = { default_transaction_isolation: 'serializable' };

    await Promise.allSettled([inSettings(db, isolation).raw('select 1')]);

    expect(await viewQuery(of(db, two))).toEqual([viewOf(two)]);
    await db.raw('select 1');
  });

  it('is not let in by a connection of another state', async () => {
    const db = start({ pool: { max: 2 } });
    const client = await take(of(db, one));

    await expect(db.raw(who).connection(client)).rejects.toThrow(SessionStateError);
    const { rows } = await of(db, one).raw(who).connection(client);
    await giveBack(db, client);

    expect(rows).toEqual([{ role: one, tenant: one }]);
    await expect(db.raw(who).connection(client)).rejects.toThrow(SessionStateError);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { ConfigError, rwSplit, SessionStateError } from '../../../lib/index.ts';
import type { HostDescription, StateOptions } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

const tenant = (name: string): StateOptions => ({ settings: { 'app.tenant': name } });

describe('An instance made by withState()', () => {
  const cluster = useDatabase();
  const splits = useSplit(cluster);
  const start = (config: Knex.Config = {}): Knex =>
    splits.cold({
      pool: { max: 2 },
      ...config,
      rwSplit: { replicas: replicasOf(cluster()), target: 'primary', ...config.rwSplit },
    }).db;

  it('is the same one for an equal state, as long as it is remembered', () => {
    const db = start();
    const first = rwSplit(db).withState(tenant('a'));
    const nested = rwSplit(first).withState({ settings: { 'app.user': 1 } });

    expect(rwSplit(db).withState(tenant('a'))).toBe(first);
    expect(rwSplit(db).withState(tenant('b'))).not.toBe(first);
    expect(rwSplit(first).withState({ settings: { 'app.user': 1 } })).toBe(nested);

    // Those of all instances together are limited.
    for (let user = 0; user < 2000; user++) {
      rwSplit(first).withState({ settings: { 'app.user': `${user}` } });
    }
    expect(rwSplit(db).withState(tenant('a'))).not.toBe(first);
  });

  it('is heard by the listeners of what it was made from, later ones too, and not the other way', async () => {
    const db = start();
    const heard: string[] = [];
    const listen = (by: Knex, name: string): void => {
      for (const event of ['start', 'query', 'query-response', 'query-error']) {
        by.on(event, () => heard.push(`${name}: ${event}`));
      }
    };
    const one = rwSplit(db).withState(tenant('a'));
    const inner = rwSplit(one).withState({ settings: { 'app.more': 1 } });
    listen(db, 'db');
    listen(one, 'one');
    listen(inner, 'inner');

    await db.raw('select 1');
    expect(heard.splice(0)).toEqual(['db: start', 'db: query', 'db: query-response']);

    await one.raw('select 1');
    expect(heard.splice(0)).toEqual(
      ['start', 'query', 'query-response'].flatMap((event) => [`one: ${event}`, `db: ${event}`]),
    );

    await inner.transaction((trx) => trx.raw('select 1'));
    expect(heard.splice(0).filter((text) => text.endsWith('start'))).toEqual([
      'inner: start',
      'one: start',
      'db: start',
    ]);

    await one.withUserParams({}).raw('select 1');
    expect(
      heard
        .splice(0)
        .filter((text) => text.endsWith('query'))
        .toSorted(),
    ).toEqual(['db: query', 'one: query']);
  });

  it('leaves no listeners behind', () => {
    const db = start();
    const before = db.client.listenerCount('query');

    for (let turn = 0; turn < 50; turn++) rwSplit(db).withState(tenant(`${turn}`));

    expect(db.client.listenerCount('query')).toBe(before);
  });

  it('can’t be destroyed, or used once its pools are', async () => {
    const db = start();
    const one = rwSplit(db).withState(tenant('a'));

    await expect(one.destroy()).rejects.toThrow(ConfigError);
    expect(() => one.initialize()).toThrow('shares the pools');
    expect((await one.raw('select 1 as ok')).rows).toEqual([{ ok: 1 }]);

    await db.destroy();
    await expect(one.raw('select 1')).rejects.toThrow('Unable to acquire a connection');
    db.initialize();
    expect((await one.raw("select current_setting('app.tenant') as t")).rows).toEqual([{ t: 'a' }]);
  });

  it.each<[string, (by: Knex) => Knex]>([
    ['itself', (by) => by],
    ['a clone', (by) => by.withUserParams({ a: 1 })],
    ['a clone of a clone', (by) => by.withUserParams({ a: 1 }).withUserParams({ b: 1 })],
  ])('runs migrations in its state: %s', async (_, migrate) => {
    const db = start();
    const schema = `s${Math.random().toString(36).slice(2)}`;
    await db.raw('create schema ??', [schema]);
    const source: Knex.MigrationSource<string> = {
      getMigrations: async () => ['one'],
      getMigrationName: (name) => name,
      getMigration: async () => ({
        up: async (by) => by.schema.createTable('made', (table) => table.increments()),
        down: async () => undefined,
      }),
    };

    await migrate(rwSplit(db).withState({ searchPath: schema })).migrate.latest({
      migrationSource: source,
    });

    const tables = await db('pg_tables')
      .where({ schemaname: schema })
      .orderBy('tablename')
      .pluck('tablename');
    expect(tables).toEqual(['knex_migrations', 'knex_migrations_lock', 'made']);
  });

  it('is not made from a transaction, and a transaction keeps the state that it began in', async () => {
    const db = start();
    const begun = await rwSplit(db).inState(tenant('a'), async () => db.transaction());
    const shown = async (): Promise<unknown> =>
      (await begun.raw("select current_setting('app.tenant') as t")).rows[0].t;

    expect(() => rwSplit(begun).withState(tenant('b'))).toThrow(ConfigError);
    expect(await shown()).toBe('a');
    expect(await rwSplit(db).inState(tenant('a'), shown)).toBe('a');
    await expect(rwSplit(db).inState(tenant('b'), shown)).rejects.toThrow(SessionStateError);
    await begun.rollback();
  });

  it.each<[string, (by: Knex, trx: Knex.Transaction) => Promise<unknown>]>([
    ['a query', async (by, trx) => by('notes').insert({ body: 'x' }).transacting(trx)],
    ['a copy of it', async (by, trx) => by('notes').clone().transacting(trx)],
    ['a copy within it', async (by, trx) => by('notes').transacting(trx).clone()],
    ['raw text', async (by, trx) => by.raw('select 1').transacting(trx)],
    ['a stream', async (by, trx) => by('notes').transacting(trx).stream().toArray()],
    ['a schema change', async (by, trx) => by.schema.dropTable('notes').transacting(trx)],
    ['a batch', async (by, trx) => by.batchInsert('notes', [{ body: 'x' }]).transacting(trx)],
    ['a clone', async (by, trx) => by.withUserParams({})('notes').transacting(trx)],
    [
      'a clone of a clone',
      async (by, trx) => by.withUserParams({}).withUserParams({})('notes').transacting(trx),
    ],
  ])('sends nothing in a transaction that is in another state: %s', async (_, send) => {
    const db = start();
    const one = rwSplit(db).withState(tenant('a'));
    const strange = [
      await db.transaction(),
      await rwSplit(db).withState(tenant('b')).transaction(),
    ];

    for (const trx of strange) {
      await expect(send(one, trx)).rejects.toThrow(SessionStateError);
      await trx.rollback();
    }
    const own = await one.transaction();
    const outcome = await send(one, own).catch((error: unknown) => error);
    expect(outcome).not.toBeInstanceOf(SessionStateError);
    await own.rollback();
  });

  it('sends nothing in a transaction of a client that has used no state', async () => {
    const [db, other] = [start(), start()];
    const trx = await other.transaction();

    const sent = rwSplit(db).withState(tenant('a')).raw('select 1').transacting(trx);

    await expect(sent).rejects.toThrow(SessionStateError);
    await trx.rollback();
  });

  it('refuses a connection that was taken in another state', async () => {
    const db = start();
    const [one, other] = ['a', 'b'].map((name) => rwSplit(db).withState(tenant(name)));
    const connection = await one?.client.acquireConnection();

    const sent = async (by: Knex | undefined): Promise<unknown> =>
      (await by?.raw("select current_setting('app.tenant') as t").connection(connection))?.rows[0]
        .t;
    expect(await sent(one)).toBe('a');
    await expect(sent(other)).rejects.toThrow(SessionStateError);
    await expect(other?.transaction((trx) => trx.raw('select 1'), { connection })).rejects.toThrow(
      SessionStateError,
    );
    await one?.client.releaseConnection(connection);
  });

  it('takes a connection that is in the state already, before another one is opened', async () => {
    const db = start({ pool: { max: 3 } });
    const pid = async (by: Knex): Promise<unknown> =>
      (await by.raw('select pg_backend_pid() as pid')).rows[0].pid;
    const of = (name: string): Knex => rwSplit(db).withState(tenant(name));
    const sleeping = async (by: Knex): Promise<unknown> =>
      (await by.raw('select pg_backend_pid() as pid, pg_sleep(0.05)')).rows[0].pid;
    const [a, b] = await Promise.all([sleeping(of('a')), sleeping(of('b'))]);

    for (const [name, expected] of [
      ['b', b],
      ['a', a],
      ['a', a],
      ['b', b],
    ] as const) {
      expect(await pid(of(name))).toBe(expected);
    }
    // One to be changed rather than a third one.
    expect([a, b]).toContain(await pid(of('c')));
    expect(rwSplit(db).hosts()[0]?.pool.free).toBe(2);
  });

  it('goes back to what afterCreate made of a connection, which tells the host', async () => {
    const hosts: HostDescription[] = [];
    const warm = start();
    const { knex } = await import('knex');
    const db = knex({
      ...warm.client.config,
      client: warm.client.constructor,
      pool: {
        min: 0,
        max: 1,
        afterCreate(
          connection: { query: (text: string, done: (error?: Error) => void) => void },
          done: (error?: Error) => void,
          host: HostDescription,
        ) {
          hosts.push(host);
          connection.query("set timezone to 'Asia/Tokyo'; set work_mem to '3MB'", done);
        },
      },
    });
    const shown = async (by: Knex): Promise<unknown> =>
      (
        await by.raw(
          "select current_setting('timezone') as zone, current_setting('work_mem') as mem",
        )
      ).rows[0];

    try {
      const other = rwSplit(db).withState({ settings: { TimeZone: 'utc', work_mem: '1MB' } });
      expect(await shown(other)).toEqual({ zone: 'UTC', mem: '1MB' });
      expect(await shown(db)).toEqual({ zone: 'Asia/Tokyo', mem: '3MB' });
      expect(hosts).toEqual([expect.objectContaining({ role: 'primary', tags: [] })]);
    } finally {
      await db.destroy();
    }
  });

  it('writes nowhere that was made read-only, and closes the connection', async () => {
    const db = start({ pool: { max: 1 } });
    await db.raw(
      "create or replace function hidden_end() returns void language plpgsql as $$ begin perform set_config('default_transaction_read_only', 'on', false); end $$",
    );
    const one = rwSplit(db).withState(tenant('a'));
    const about = async (by: Knex): Promise<Record<string, string>> =>
      (
        await by.raw(
          "select pg_backend_pid() as pid, current_setting('default_transaction_read_only') as mode",
        )
      ).rows[0];
    const before = await about(one);

    const during = await one.transaction(async (trx) => {
      await trx.raw('select hidden_end()');
      return about(trx);
    });

    expect(during).toEqual({ pid: before['pid'], mode: 'on' });
    expect(await about(db)).toEqual({ pid: expect.any(Number), mode: 'off' });
    expect((await about(db))['pid']).not.toBe(before['pid']);
  });

  it('notices what a function has changed, where the server reports it', async () => {
    const db = start({ pool: { max: 1 } });
    await db.raw(
      "create or replace function hidden() returns void language plpgsql as $$ begin execute 'set timezone to ''Asia/Tokyo'''; end $$",
    );
    const one = rwSplit(db).withState({ settings: { timezone: 'UTC' } });
    const zone = async (by: Knex): Promise<unknown> =>
      (await by.raw("select current_setting('timezone') as zone")).rows[0].zone;
    const own = await zone(db);

    await one.raw('select hidden()');
    expect(await zone(one)).toBe('UTC');
    await db.raw('select hidden()');
    expect(await zone(db)).toBe(own);
  });
});

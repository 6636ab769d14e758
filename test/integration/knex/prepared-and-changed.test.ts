import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit, RWSplitClient } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { extensibleClient } from '../../support/own-client.ts';
import { preparedOf, twice } from '../../support/prepared.ts';
import { useSplit } from '../../support/split.ts';

const schema = `
  drop schema if exists a, b cascade; create schema a; create schema b;
  drop table if exists items; create table items (id int primary key, body text);
  insert into items values (1, 'one');
  create table a.places (id int, name text); insert into a.places values (1, 'in a');
  create table b.places (name text, id text); insert into b.places values ('in b', '1');
`;

const all = (db: Knex): Knex.QueryBuilder => db('items').select();
const byId = (db: Knex, id: number | string): Knex.QueryBuilder => db('items').where({ id });
const rename = (db: Knex): Knex.QueryBuilder =>
  db('items').where({ id: 1 }).update({ body: 'two' }, '*');

type Run = (db: Knex) => PromiseLike<unknown>;

const changes: readonly (readonly [name: string, sql: string, run: Run, result: unknown])[] = [
  [
    'a column more',
    'alter table items add more int default 5',
    all,
    [{ id: 1, body: 'one', more: 5 }],
  ],
  ['a column less', 'alter table items drop body', all, [{ id: 1 }]],
  ['a wider type', 'alter table items alter id type bigint', (db) => byId(db, 3_000_000_000), []],
  [
    'another type',
    'alter table items alter id type text',
    (db) => byId(db, '1'),
    [{ id: '1', body: 'one' }],
  ],
  [
    'a column more that a write returns',
    'alter table items add more int default 5',
    rename,
    [{ id: 1, body: 'two', more: 5 }],
  ],
  [
    'another table of that name',
    `drop table items; create table items (body text, id text); insert into items values ('new', 1)`,
    all,
    [{ body: 'new', id: '1' }],
  ],
];

const Base = extensibleClient<unknown>();

/** As an application may have: what it does around each query is its own. */
class OwnClient extends Base {
  override async _query(connection: unknown, statement: object): Promise<unknown> {
    await Promise.resolve();
    // oxlint-disable-next-line no-underscore-dangle -- Knex's name.
    return super._query(connection, { ...statement });
  }
}

describe('A statement prepared by name', () => {
  const cluster = useDatabase();
  const splits = useSplit(cluster);

  beforeEach(async () => {
    await cluster().primary.query(schema);
    await cluster().waitForReplay();
  });

  // What somebody else changes, the client knows nothing of.
  const change = async (sql: string): Promise<unknown> => cluster().primary.query(sql);

  const open = async (config: Knex.Config = {}): Promise<Knex> => {
    const options = { replicas: [], prepare: { max: 50 } };
    return (await splits.warm({ pool: { max: 1 }, ...config, rwSplit: options })).db;
  };

  const eventsOf = (db: Knex): string[] => {
    const events: string[] = [];
    for (const name of ['start', 'query', 'query-response', 'query-error'] as const) {
      db.on(name, () => events.push(name));
    }
    return events;
  };

  it.each(
    changes.flatMap(([name, ...more]) => [
      [name, 'the class of this package', RWSplitClient, ...more] as const,
      [
        name,
        'one of the application',
        OwnClient as unknown as typeof Knex.Client,
        ...more,
      ] as const,
    ]),
  )('runs after a change of the schema: %s, by %s', async (_, __, client, sql, run, result) => {
    const db = await open({ client });
    for (const read of [all, rename, (of: Knex) => byId(of, 1)]) await twice(() => read(db));
    await change("update items set body = 'one'");
    const before = await preparedOf(db);
    await change(sql);
    const events = eventsOf(db);

    const results = [await run(db), await run(db)];

    expect(before).toHaveLength(3);
    expect(results).toEqual([result, result]);
    expect(events).toEqual(
      Array.from({ length: 2 }, () => ['start', 'query', 'query-response']).flat(),
    );
  });

  it('is prepared anew after a change of the schema by its own client', async () => {
    const db = await open();
    await twice(() => byId(db, 1));
    const before = await preparedOf(db);
    await db.raw('alter table items alter id type bigint');
    await byId(db, 3_000_000_000);

    expect(before.map((one) => one.parameter_types)).toEqual(['{integer}']);
    expect(await preparedOf(db)).toEqual([{ ...before[0], parameter_types: '{bigint}' }]);
  });

  const shadowed = "create table b.seen as select 'old' as what";
  const shadowing = "create table a.seen as select 'new' as what";
  const seen = (db: Knex): Knex.QueryBuilder => db('seen').where('what', '<>', '').pluck('what');

  it.each<[string, (db: Knex, held: object) => Promise<unknown>]>([
    ['raw text', async (db) => db.raw(shadowing)],
    ['code', async (db) => db.raw(`do $$ begin ${shadowing}; end $$`)],
    [
      'raw text on a connection held by hand',
      async (db, held) => db.raw(shadowing).connection(held),
    ],
    [
      'a transaction on a connection held by hand',
      async (db, held) =>
        db.transaction(
          async (trx) => {
            await trx.raw(shadowing);
            await seen(db);
          },
          { connection: held },
        ),
    ],
    [
      'a transaction as raw text on a connection held by hand',
      async (db, held) => {
        for (const text of ['begin', shadowing]) await db.raw(text).connection(held);
        await seen(db);
        await db.raw('commit').connection(held);
      },
    ],
  ])('finds at once what its own client made in an earlier schema: by %s', async (_, make) => {
    await change(shadowed);
    const db = await open({ searchPath: ['a', 'b'], pool: { max: 2 } });
    const held = (await db.client.acquireConnection()) as object;
    for (let run = 0; run < 3; run++) await seen(db);

    await make(db, held);
    const found = [await seen(db), await seen(db)];
    await db.client.releaseConnection(held);

    expect(found).toEqual([['new'], ['new']]);
  });

  it('finds what its own client made where it was prepared by a replica that came to it later', async () => {
    await change(shadowed);
    await cluster().waitForReplay();
    const { db, servers } = await splits.warm({
      searchPath: ['a', 'b'],
      pool: { max: 1 },
      rwSplit: {
        consistency: 'session',
        replicas: cluster()
          .replicas.slice(0, 1)
          .map(({ name, host, port }) => ({ name, host, port })),
        prepare: { max: 50 },
      },
    });
    const eventually = async (): Promise<unknown> =>
      rwSplit(db).session({ consistency: 'eventual' }, async () => seen(db));
    const [replica] = cluster().replicas;
    await replica?.pauseReplay();
    try {
      await db.raw(shadowing);
      servers();
      expect([await eventually(), await eventually()]).toEqual([['old'], ['old']]);
      expect(new Set(servers())).toEqual(new Set(['replica-1']));
    } finally {
      await replica?.resumeReplay();
    }
    await cluster().waitForReplay();

    expect(await seen(db)).toEqual(['new']);
    expect(servers()).toEqual(['replica-1']);
  });

  it('is sent without its name for a while after it failed for it', async () => {
    const db = await open();
    await twice(() => all(db));
    await change('alter table items add more int');
    await all(db);
    await db.raw('deallocate all').catch(() => undefined);
    await twice(() => all(db));

    expect(await preparedOf(db)).toEqual([]);
  });

  it('keeps its name where a value is to blame', async () => {
    const db = await open();
    await twice(() => byId(db, 1));
    const runs = async (): Promise<unknown> => {
      const sql = 'select generic_plans + custom_plans as runs from pg_prepared_statements';
      return (await db.transaction((trx) => trx.raw(sql))).rows;
    };
    const before = await runs();

    await expect(byId(db, 'one')).rejects.toMatchObject({ code: '22P02' });
    await byId(db, 1);

    expect([before, await runs()]).toEqual([[{ runs: '1' }], [{ runs: '2' }]]);
  });

  it('means in each search path what is there', async () => {
    const db = await open();
    const places = (searchPath: string): PromiseLike<unknown> =>
      rwSplit(db)
        .withState({ searchPath: [searchPath] })('places')
        .where({ id: '1' });
    for (const path of ['a', 'b', 'a', 'b']) await places(path);
    const prepared = await preparedOf(db);

    expect([await places('a'), await places('b')]).toEqual([
      [{ id: 1, name: 'in a' }],
      [{ name: 'in b', id: '1' }],
    ]);
    expect(prepared.map((one) => one.parameter_types)).toEqual(['{integer}', '{text}']);
    expect(await preparedOf(db)).toEqual(prepared);
  });

  it('is sent again in its search path where its plan is refused along with it', async () => {
    const db = await open();
    const places = (searchPath: string): PromiseLike<unknown> =>
      rwSplit(db)
        .withState({ searchPath: [searchPath] })('places')
        .select('*');
    for (const path of ['a', 'b', 'a', 'b']) await places(path);
    await change('alter table a.places add more int');

    expect([await places('a'), await places('b'), await places('a')]).toEqual([
      [{ id: 1, name: 'in a', more: null }],
      [{ name: 'in b', id: '1' }],
      [{ id: 1, name: 'in a', more: null }],
    ]);
  });

  it('runs with the rights of each role', async () => {
    await change('drop role if exists prepared_nobody; create role prepared_nobody');
    const db = await open();
    const nobody = rwSplit(db).withState({ role: 'prepared_nobody' });
    await twice(() => all(db));

    await expect(all(nobody)).rejects.toMatchObject({ code: '42501' });
    await expect(all(nobody)).rejects.toMatchObject({ code: '42501' });

    expect(await all(db)).toHaveLength(1);
    await change('drop role prepared_nobody');
  });

  it.each(['discard all', 'deallocate all', "do $$ begin execute 'deallocate all'; end $$"])(
    'runs after raw %s',
    async (sql) => {
      const db = await open();
      await twice(() => all(db));
      await db.raw(sql);
      const events = eventsOf(db);

      expect(await twice(() => all(db))).toHaveLength(1);
      expect(events).not.toContain('query-error');
      expect(await preparedOf(db)).toHaveLength(1);
    },
  );
});

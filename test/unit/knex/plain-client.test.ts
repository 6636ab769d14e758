import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { Pool } from 'tarn';
import { RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { knexClasses } from '../../../lib/knex/internals.ts';
import { createFakeDriver, overDriver, type FakeDriver } from '../../support/fake-driver.ts';

const { PgDialect } = knexClasses(knex);

const open: Knex[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((db) => db.destroy()));
});

type Configure = (driver: FakeDriver) => Knex.Config;

const overConnection: Configure = () => ({
  connection: { host: 'primary', user: 'app', password: 'secret', database: 'shop' },
});

/** What Knex gives to the driver, and what the application sees. */
async function observe(
  Client: typeof Knex.Client,
  configure: Configure,
  use: (db: Knex) => Promise<unknown>,
): Promise<unknown> {
  const driver = createFakeDriver(({ text }) => {
    if (text.includes('max(')) return [{ max_batch: 0 }];
    return text.includes('as one') ? [{ one: 1 }] : undefined;
  });
  const db = knex({ client: overDriver(Client, driver), ...configure(driver) });
  open.push(db);
  const events: string[] = [];
  for (const event of ['start', 'query', 'query-response', 'query-error'])
    db.on(event, () => events.push(event));
  const result = await use(db).catch(String);

  const requests = driver.requests.map(({ text, values }) => [
    text.replaceAll(/trx\d+/g, 'trx'),
    values.map((value) => (value instanceof Date ? 'a time' : value)),
  ]);
  return { requests, dialled: driver.dialled, cancelled: driver.cancelled, events, result };
}

const pools: Pool<object>[] = [];

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.destroy()));
});

function tarnPool(driver: FakeDriver): Pool<object> {
  const create = async (): Promise<object> => new driver.Client({ host: 'primary' });
  const pool = new Pool<object>({ create, destroy: () => undefined, min: 0, max: 2 });
  pools.push(pool);
  return pool;
}

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => ['one'],
  getMigrationName: (name) => name,
  getMigration: async () => ({
    up: async (trx) => trx.schema.createTable('t', (table) => table.increments()),
    down: async () => undefined,
  }),
};

const uses: [string, (db: Knex) => Promise<unknown>][] = [
  ['a select', async (db) => db.select(db.raw('1 as one'))],
  ['an insert', async (db) => db('t').insert({ a: 1 }).returning('*')],
  ['raw text', async (db) => db.raw('select ? as one', [1])],
  ['raw text that leaves state behind', async (db) => db.raw('set search_path to x')],
  ['raw BEGIN', async (db) => db.raw('begin')],
  ['an advisory lock', async (db) => db.raw('select pg_advisory_lock(1)')],
  ['a transaction', async (db) => db.transaction(async (trx) => trx('t'))],
  [
    'a read-only transaction',
    async (db) => db.transaction(async (trx) => trx('t'), { readOnly: true }),
  ],
  [
    'a nested transaction',
    async (db) => db.transaction(async (trx) => trx.transaction(async (inner) => inner('t'))),
  ],
  [
    'a transaction that fails',
    async (db) => db.transaction(async () => Promise.reject(new Error('no'))),
  ],
  [
    'schema builders',
    async (db) => db.schema.createTable('t', (table) => table.increments()).dropTable('t'),
  ],
  ['migrations', async (db) => db.migrate.latest({ migrationSource })],
  ['a clone', async (db) => db.withUserParams({})('t')],
  [
    'a connection taken by hand',
    async (db) => {
      const connection = (await db.client.acquireConnection()) as object;
      await db('t').connection(connection);
      await db.client.releaseConnection(connection);
    },
  ],
  ['a stream', async (db) => db.select(db.raw('1 as one')).stream().toArray()],
  [
    'a query that is cancelled',
    async (db) => {
      const connection = (await db.client.acquireConnection()) as object;
      await db.client.cancelQuery(connection);
      await db.client.releaseConnection(connection);
    },
  ],
  ['an undefined binding', async (db) => db('t').where('a', undefined as never)],
];

describe('RWSplitClient without rwSplit', () => {
  it.each(uses)('does with %s what pg does', async (_, use) => {
    const ours = await observe(RWSplitClient, overConnection, use);

    expect(ours).toEqual(await observe(PgDialect, overConnection, use));
    expect(ours).toMatchObject({ dialled: expect.arrayContaining([expect.anything()]) });
  });

  const external: [string, Configure][] = [
    [
      'of tarn',
      (driver) => ({
        connectionPool: tarnPool(driver),
      }),
    ],
    [
      'of pg',
      (driver) => ({
        // Knex types a whole pool, and calls only this of one of pg.
        connectionPool: {
          connect: async () =>
            Object.assign(new driver.Client({ host: 'primary' }), { release: () => undefined }),
        } as unknown as Pool<object>,
      }),
    ],
  ];

  it.each(external)('works on a pool %s as pg does', async (_, configure) => {
    const use = async (db: Knex): Promise<unknown> => [
      await db.select(db.raw('1 as one')),
      await db.transaction(async (trx) => trx('t')),
    ];

    const ours = await observe(RWSplitClient, configure, use);

    expect(ours).toMatchObject({ result: [[{ one: 1 }], []] });
    expect(ours).toEqual(await observe(PgDialect, configure, use));
  });

  it.each(['initialize after destroy', 'initialize twice'])('can %s as pg can', async (when) => {
    const use = async (db: Knex): Promise<unknown> => {
      if (when === 'initialize after destroy') await db.destroy();
      db.initialize();
      return db.select(db.raw('1 as one'));
    };
    const configure: Configure = (driver) => ({
      ...overConnection(driver),
      log: { warn: () => undefined },
    });

    const ours = await observe(RWSplitClient, configure, use);

    expect(ours).toMatchObject({ result: [{ one: 1 }] });
    expect(ours).toEqual(await observe(PgDialect, configure, use));
  });

  it('makes no pool where Knex makes none', () => {
    expect(knex({ client: RWSplitClient }).client.pool).toBeUndefined();
    expect(
      knex({ client: RWSplitClient, connection: {}, pool: { max: 0 } }).client.pool,
    ).toBeUndefined();
  });

  it('leaves nothing of ours on the client, its config or its events', async () => {
    const driver = createFakeDriver();
    const db = knex({ client: overDriver(RWSplitClient, driver), ...overConnection(driver) });
    const plain = knex({ client: 'pg', ...overConnection(driver) });
    open.push(db, plain);
    const events: object[] = [];
    db.on('query', (event: object) => events.push(event));

    await db('t');

    expect(new Set(Object.keys(db.client))).toEqual(
      new Set([...Object.keys(plain.client), 'version']),
    );
    expect(new Set(Reflect.ownKeys(db.client.config as object))).toEqual(
      new Set(Reflect.ownKeys(plain.client.config as object)),
    );
    expect(db.client.pool.constructor).toBe(plain.client.pool.constructor);
    expect(events.filter((event) => 'rwSplit' in event)).toEqual([]);
    expect(() => rwSplit(db)).toThrow('splits nothing');
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
import { clientOf, executable, knexClasses } from '../../../lib/knex/internals.ts';
import { createFakeDriver, overDriver } from '../../support/fake-driver.ts';
import { root } from '../../support/source-file.ts';

const classes = knexClasses(knex);

/** What a file of Knex exports, untyped as Knex leaves it. */
function internal(path: string): unknown {
  return require(join(root, 'node_modules/knex/lib', path));
}

function openPlain(driver = createFakeDriver()): {
  db: ReturnType<typeof knex>;
  driver: typeof driver;
} {
  const client = overDriver(classes.PgDialect, driver);
  return { db: knex({ client, connection: { host: 'primary' } }), driver };
}

describe('knexClasses', () => {
  it.each([
    ['PgDialect', classes.PgDialect, internal('dialects/postgres/index.js')],
    ['KnexRunner', classes.KnexRunner, internal('execution/runner.js')],
    [
      'Migrator',
      classes.Migrator,
      Reflect.get(internal('migrations/migrate/Migrator.js') as object, 'Migrator'),
    ],
    ['Seeder', classes.Seeder, internal('migrations/seed/Seeder.js')],
    [
      'KnexTimeoutError',
      classes.KnexTimeoutError,
      Reflect.get(internal('util/timeout.js') as object, 'KnexTimeoutError'),
    ],
  ])('finds the %s that Knex itself uses', (_, found, used) => {
    expect(found).toBe(used);
  });

  it('takes Knex as a function or as a module', () => {
    expect(knexClasses({ knex })).toEqual(classes);
  });

  it('takes a dialect that extends the one of Knex', () => {
    class OwnDialect extends classes.PgDialect {}

    expect(knexClasses(knex, OwnDialect)).toEqual({ ...classes, PgDialect: OwnDialect });
  });

  it('makes no pool', () => {
    expect(knex({ client: 'pg' }).client.pool).toBeUndefined();
  });
});

describe('What is used of the inside of Knex', () => {
  const { prototype: dialect } = classes.PgDialect;
  const { prototype: runner } = classes.KnexRunner;
  const transaction = Reflect.get(
    internal('execution/transaction.js') as object,
    'prototype',
  ) as object;

  it.each([
    [
      'the pg dialect',
      dialect,
      [
        ['initializePool', 0],
        ['runner', 1],
        ['transaction', 0],
        ['acquireConnection', 0],
        ['releaseConnection', 1],
        ['query', 2],
        ['_query', 2],
        ['_stream', 4],
        ['cancelQuery', 1],
        ['positionBindings', 1],
        ['getPoolSettings', 1],
        ['_driver', 0],
        ['acquireRawConnection', 0],
        ['destroyRawConnection', 1],
      ],
    ],
    [
      'the runner',
      runner,
      [
        ['run', 0],
        ['stream', 2],
        ['query', 1],
        ['queryArray', 1],
        ['ensureConnection', 2],
      ],
    ],
    ['the transaction', transaction, [['acquireConnection', 2]]],
  ] as const)('%s has its methods with their parameters', (_, owner, methods) => {
    const arities = methods.map(([name]) => {
      const method: unknown = Reflect.get(owner, name);
      return [name, typeof method === 'function' ? method.length : 'missing'];
    });

    expect(arities).toEqual(methods);
  });

  it('the dialect goes by its names', () => {
    expect(dialect).toMatchObject({
      dialect: 'postgresql',
      driverName: 'pg',
      canCancelQuery: true,
    });
  });

  it('the version that the tests were written for is a Knex 3', () => {
    const { version } = JSON.parse(
      readFileSync(join(root, 'node_modules/knex/package.json'), 'utf8'),
    ) as { version: string };

    expect(version).toMatch(/^3\./);
  });

  it('the client of a transaction is made without its constructor, shares the config and has no pool', async () => {
    const { db } = openPlain();

    const seen = await db.transaction(async (trx) => {
      const { client } = trx as unknown as { client: typeof db.client };
      return [
        Object.getPrototypeOf(client) === Object.getPrototypeOf(db.client),
        client.config === db.client.config,
        client.transacting,
        client.pool,
        client.searchPath,
      ];
    });

    expect(seen).toEqual([true, true, true, undefined, undefined]);
    await db.destroy();
  });

  it('a clone copies the config and shares what is an instance of a class', async () => {
    const { db } = openPlain();
    const key = Symbol('ours');
    const state = new Map();
    db.client.config[key] = state;

    const clone = db.withUserParams({});

    expect(clone.client.config).not.toBe(db.client.config);
    expect(clone.client.config[key]).toBe(state);
    expect(clone.client.pool).toBe(db.client.pool);
    await db.destroy();
  });

  it('a runner acquires without saying for what, before it compiles', async () => {
    const { db } = openPlain();
    const steps: string[] = [];
    const acquire = db.client.acquireConnection.bind(db.client);
    db.client.acquireConnection = (...args: unknown[]) => {
      steps.push(`acquire with ${args.length}`);
      return acquire();
    };
    const query = db('t').on('start', () => steps.push('start'));

    await query;

    expect(steps).toEqual(['acquire with 0', 'start']);
    await db.destroy();
  });

  it('a stream releases its connection twice', async () => {
    const { db } = openPlain();
    let releases = 0;
    const release = db.client.releaseConnection.bind(db.client);
    db.client.releaseConnection = (connection: unknown) => {
      releases++;
      return release(connection);
    };

    for await (const row of db('t').stream()) void row;
    await new Promise(setImmediate);

    expect(releases).toBe(2);
    await db.destroy();
  });

  it('a compiled statement has text, bindings and method, and a schema builder gives a list without methods', async () => {
    const { db } = openPlain();

    expect(executable(db('t').where('a', 1)).toSQL()).toMatchObject({
      sql: 'select * from "t" where "a" = ?',
      bindings: [1],
      method: 'select',
    });
    const statements = executable(db.schema.createTable('t', (t) => t.increments())).toSQL();
    expect(statements).toMatchObject([{ sql: expect.stringContaining('create table') }]);
    expect(statements).not.toMatchObject([{ method: expect.anything() }]);
    await db.destroy();
  });

  it('a query builder clones what it keeps in _single, symbols included', async () => {
    const { db } = openPlain();
    const key = Symbol('ours');
    const builder = executable(db('t'));
    Object.assign(Reflect.get(builder, '_single') as object, { [key]: 1 });

    const clone = (builder as unknown as ReturnType<typeof db>).clone();

    expect(Reflect.get(Reflect.get(clone, '_single') as object, key)).toBe(1);
    await db.destroy();
  });

  it('events show the statement that was given to client.query, with what was added to it', async () => {
    const { db } = openPlain();
    const shown: unknown[] = [];
    db.on('query', (event) => shown.push(event));
    const connection = (await db.client.acquireConnection()) as object;
    const route = { host: 'h', role: 'replica', reason: 'r' };

    await clientOf(db).query(connection, { sql: 'select 1', bindings: [], rwSplit: route });

    expect(shown).toMatchObject([{ sql: 'select 1', rwSplit: route }]);
    await db.client.releaseConnection(connection);
    await db.destroy();
  });

  it('a transaction takes its connection by its own acquireConnection, in a later turn', async () => {
    const { db } = openPlain();
    const asked: unknown[] = [];
    const transaction = clientOf(db).transaction(async () => undefined, { readOnly: true }, null);
    const original = Reflect.get(transaction, 'acquireConnection') as (
      ...args: unknown[]
    ) => unknown;
    Object.assign(transaction, {
      acquireConnection(...args: unknown[]) {
        asked.push(args[0]);
        return original.apply(transaction, args);
      },
    });

    await Promise.resolve<unknown>(transaction);

    expect(asked).toMatchObject([{ readOnly: true }]);
    await db.destroy();
  });
});

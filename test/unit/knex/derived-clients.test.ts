import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { onPrimary, onReplica, rwSplit, RWSplitClient } from '../../../lib/index.ts';
import {
  createFakeDriver,
  overDriver,
  type FakeDriver,
  type FakeRequest,
} from '../../support/fake-driver.ts';

const open: Knex[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((db) => db.destroy()));
});

function split(driver: FakeDriver, more: Knex.Config = {}): Knex {
  const db = knex({
    client: overDriver(RWSplitClient, driver),
    connection: { host: 'primary' },
    rwSplit: { replicas: [{ host: 'replica' }] },
    ...more,
  });
  open.push(db);
  return db;
}

/** Runs `use` with each client that Knex derives from one, and says what reached the servers. */
async function inEachClient(
  use: (db: Knex) => Promise<unknown>,
): Promise<Record<string, string[]>> {
  const driver = createFakeDriver();
  const db = split(driver);
  await use(db);
  const client = driver.sent();
  await use(db.withUserParams({ tenant: 1 }));
  const clone = driver.sent();
  await db.transaction(use);
  const transaction = driver.sent();
  await db.transaction(async (trx) => trx.transaction(use));
  const nested = driver.sent();
  await db.withUserParams({}).transaction(use);
  return { client, clone, transaction, nested, transactionOfClone: driver.sent() };
}

function stateIn(db: Knex): unknown[] {
  const config = db.client.config as object;
  return Object.getOwnPropertySymbols(config).map((key) => Reflect.get(config, key));
}

function names(db: Knex): string[] {
  return rwSplit(db)
    .hosts()
    .map(({ name, state }) => `${name} ${state}`);
}

const inTransaction = (...texts: string[]): unknown[] => [
  expect.stringMatching(/^primary: BEGIN/),
  ...texts.map((text) => `primary: ${text}`),
  'primary: COMMIT;',
];

const inNested = (...texts: string[]): unknown[] => [
  expect.stringMatching(/^primary: BEGIN/),
  expect.stringMatching(/^primary: SAVEPOINT/),
  ...texts.map((text) => `primary: ${text}`),
  expect.stringMatching(/^primary: RELEASE/),
  'primary: COMMIT;',
];

describe('The clients that Knex derives from an RWSplitClient', () => {
  it.each<[string, (db: Knex) => Promise<unknown>, string, string]>([
    ['run reads', async (db) => db('t'), 'replica', 'select * from "t"'],
    ['run hinted reads', async (db) => db('t').modify(onPrimary), 'primary', 'select * from "t"'],
    [
      'run reads hinted to a replica',
      async (db) => db('t').modify(onReplica),
      'replica',
      'select * from "t"',
    ],
    ['run raw text', async (db) => db.raw('select * from t'), 'replica', 'select * from t'],
    [
      'run writes',
      async (db) => db('t').insert({ a: 1 }),
      'primary',
      'insert into "t" ("a") values ($1)',
    ],
    ['change the schema', async (db) => db.schema.dropTable('t'), 'primary', 'drop table "t"'],
    [
      'stream',
      async (db) => {
        for await (const row of db('t').stream()) void row;
      },
      'replica',
      'select * from "t"',
    ],
  ])('%s', async (_, use, host, text) => {
    const seen = await inEachClient(use);

    expect(seen).toEqual({
      client: [`${host}: ${text}`],
      clone: [`${host}: ${text}`],
      transaction: inTransaction(text),
      nested: inNested(text),
      transactionOfClone: inTransaction(text),
    });
  });

  it('acquire and release connections', async () => {
    const hosts: unknown[] = [];

    await inEachClient(async (db) => {
      const connection = (await db.client.acquireConnection()) as { host: string };
      hosts.push(connection.host);
      await db.client.releaseConnection(connection);
    });

    expect(hosts).toEqual(Array.from({ length: 5 }, () => 'primary'));
  });

  it('run on a connection that they are given', async () => {
    const seen = await inEachClient(async (db) => {
      const connection = (await db.client.acquireConnection()) as object;
      await db('t').connection(connection);
      await db.client.releaseConnection(connection);
    });

    expect(seen['client']).toEqual(['primary: select * from "t"']);
    expect(seen['clone']).toEqual(['primary: select * from "t"']);
    expect(seen['transaction']).toEqual(inTransaction('select * from "t"'));
  });

  it.each<[string, (db: Knex) => Promise<Knex>]>([
    ['the client itself', async (db) => db],
    ['a clone', async (db) => db.withUserParams({})],
    ['a transaction', async (db) => db.transaction()],
    ['a nested transaction', async (db) => (await db.transaction()).transaction()],
    ['a read-only transaction', async (db) => db.transaction({ readOnly: true })],
  ])('cancel a query of %s at the host that runs it', async (_, derive) => {
    const running: { request?: FakeRequest; end?: (rows: object[]) => void } = {};
    const driver = createFakeDriver((request) => {
      if (request.text !== 'select * from "slow"') return undefined;
      running.request = request;
      return new Promise((end) => {
        running.end = end;
      });
    });
    const db = await derive(split(driver));
    const query = db('slow').timeout(20, { cancel: true });
    const failure = query.catch((error: unknown) => error);
    while (driver.cancelled.length === 0) await new Promise(setImmediate);
    running.end?.([]);

    expect(await failure).toMatchObject({
      message: expect.stringMatching(/^Defined query timeout of 20ms/),
    });
    expect(driver.cancelled).toEqual([`${running.request?.host}: ${running.request?.pid}`]);
    expect(driver.sent().filter((sent) => sent.includes('pg_cancel'))).toEqual([]);
    if (db.isTransaction) {
      const trx = db as Knex.Transaction;
      await trx.rollback();
      if (trx.parentTransaction !== undefined) await trx.parentTransaction.rollback();
    }
  });

  it('share one state under a symbol of the config', async () => {
    const db = split(createFakeDriver());
    const own = stateIn(db);

    await db.transaction(async (trx) => {
      expect(stateIn(trx)).toEqual(own);
      await trx.transaction(async (nested) => expect(stateIn(nested)[0]).toBe(own[0]));
    });

    expect(own).toHaveLength(1);
    expect(stateIn(db.withUserParams({}))[0]).toBe(own[0]);
  });

  it('have no fields of ours', async () => {
    const driver = createFakeDriver();
    const plain = knex({ client: 'pg' });
    const db = split(driver);

    const fields = Object.keys(db.client).filter((key) => !(key in plain.client));

    expect(fields.toSorted()).toEqual(['driver', 'pool']);
  });

  it('know one handle', async () => {
    const db = split(createFakeDriver());
    await rwSplit(db).checkNow();

    const known = names(db);
    expect(known).toEqual(['primary:5432 up', 'replica:5432 up']);
    expect(names(db.withUserParams({}))).toEqual(known);
    await db.transaction(async (trx) => {
      expect(names(trx)).toEqual(known);
    });
  });

  it('pass the events of a clone to the listeners of both', async () => {
    const db = split(createFakeDriver());
    const hosts: unknown[] = [];
    db.on('query', ({ rwSplit: route }) => hosts.push(route.host));

    await db.withUserParams({})('t');

    expect(hosts).toEqual(['replica:5432']);
  });
});

describe('A client made of the config of another', () => {
  it('has hosts and pools of its own', async () => {
    const driver = createFakeDriver();
    const db = split(driver);
    await db('t');

    const other = knex({ ...db.client.config, client: overDriver(RWSplitClient, driver) });
    open.push(other);
    await db.destroy();
    await other('t');

    expect(driver.sent()).toEqual(['replica: select * from "t"', 'replica: select * from "t"']);
    expect(new Set(driver.requests.map(({ pid }) => pid)).size).toBeGreaterThan(1);
  });

  it('is a plain one where the name of the client is plain', async () => {
    const { client, ...config } = split(createFakeDriver()).client.config as Knex.Config;

    const plain = knex({ ...config, client: 'pg' });
    open.push(plain);

    expect(client).toBe('pg');
    expect(inspect(plain.client.pool)).not.toContain('PoolFacade');
  });
});

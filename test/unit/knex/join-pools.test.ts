import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { ConfigError, PoolRegistry, rwSplit, RWSplitClient } from '../../../lib/index.ts';
import type { Host, RWSplitOptions } from '../../../lib/index.ts';
import { createFakeDriver, overDriver } from '../../support/fake-driver.ts';

const driver = createFakeDriver();
const client = overDriver(RWSplitClient, driver);
const open: Knex[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((db) => db.destroy()));
});

function make({ rwSplit: options, ...config }: Knex.Config): Knex {
  const db = knex({
    client,
    connection: { host: 'h1', user: 'u', password: 'first secret', database: 'd' },
    ...config,
    rwSplit: { pools: 'tests', replicas: [{ host: 'h2' }, { host: 'h3' }], ...options },
  });
  open.push(db);
  return db;
}

function refusal(one: Knex.Config, other: Knex.Config): ConfigError {
  make(one);
  try {
    make(other);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('The other one was not refused.');
}

function isShared(one: Knex, other: Knex): boolean {
  rwSplit(one)
    .drain('h2:5432')
    .catch(() => undefined);
  return rwSplit(other).hosts()[1]?.state === 'draining';
}

const connection = { host: 'h1', user: 'u', password: 'first secret', database: 'd' };
const provide = (): typeof connection => connection;
const provideLikewise = (): typeof connection => connection;
const hook = (): boolean => true;
const split = (rwSplit: RWSplitOptions): Knex.Config => ({ rwSplit });
const replicas = (host: Host): Knex.Config => split({ replicas: [host, 'postgres://h3'] });

describe('Clients with the same pools', () => {
  it.each<[string, Knex.Config, Knex.Config]>([
    ['own copy of the settings', {}, {}],
    ['a URL', {}, { connection: 'postgres://u:first%20secret@h1/d' }],
    ['the host spelt otherwise', {}, { connection: { ...connection, port: undefined } }],
    ['a function', { connection: provide }, { connection: provide }],
    ['a replica’s function', replicas(provide), replicas(provide)],
    ['a list’s function', split({ replicas: discover }), split({ replicas: discover })],
    [
      'a list’s function whose servers have a budget',
      split({ replicas: discover, maxPerServer: 20 }),
      split({ replicas: discover, maxPerServer: 20 }),
    ],
    ['ways of routing', split({ target: 'primary', balancer: 'shuffle', fallback: 'error' }), {}],
    ['consistency', split({ consistency: { mode: 'strong', token: { secret: 'a' } } }), {}],
    ['state', split({ state: { searchPath: 'a' } }), {}],
    ['functions', split({ functions: { read: ['f'] } }), {}],
    ['patience', split({ failover: { waitMillis: 1 } }), {}],
    ['case', { postProcessResponse: (rows) => rows, asyncStackTraces: true }, {}],
    ['a hook', { pool: { afterCreate: hook } }, { pool: { afterCreate: hook } }],
    [
      'ssl',
      { connection: { ...connection, ssl: { key: 'k' } } },
      { connection: { ...connection, ssl: { key: 'k' } } },
    ],
  ])('share them whatever their %s', (_, one, other) => {
    const [first, second] = [make(one), make(other)];

    expect(rwSplit(second).hosts()).toEqual(rwSplit(first).hosts());
    expect(first.client.pool.numUsed()).toBe(0);
  });

  it.each<[string, Knex.Config, Knex.Config]>([
    ['connection.host', {}, { connection: { ...connection, host: 'h9' } }],
    ['connection.port', {}, { connection: { ...connection, port: 5433 } }],
    ['connection.user', {}, { connection: { ...connection, user: 'v' } }],
    ['connection.database', {}, { connection: { ...connection, database: 'e' } }],
    ['connection.password', {}, { connection: { ...connection, password: 'other secret' } }],
    ['connection.ssl', {}, { connection: { ...connection, ssl: true } }],
    [
      'connection.ssl.key',
      { connection: { ...connection, ssl: { key: 'first secret' } } },
      { connection: { ...connection, ssl: { key: 'other secret' } } },
    ],
    ['connection', { connection: provide }, { connection: provideLikewise }],
    ['connection', {}, { connection: provide }],
    ['pool.max', {}, { pool: { max: 3 } }],
    ['pool.afterCreate', { pool: { afterCreate: hook } }, { pool: { afterCreate: () => true } }],
    ['pool.validate', { pool: { validate: hook } }, { pool: { validate: () => true } }],
    ['searchPath', {}, { searchPath: ['a'] }],
    ['version', {}, { version: '15' }],
    ['acquireConnectionTimeout', {}, { acquireConnectionTimeout: 5 }],
    ['client', {}, { client: overDriver(RWSplitClient, driver) }],
    ['rwSplit.replicas.length', {}, split({ replicas: [{ host: 'h2' }] })],
    ['rwSplit.replicas', {}, split({ replicas: discover })],
    ['rwSplit.replicas', split({ replicas: discover }), split({ replicas: async () => [] })],
    [
      'rwSplit.replicas[0].password',
      replicas({ host: 'h2' }),
      replicas({ host: 'h2', password: 'other secret' }),
    ],
    ['rwSplit.replicas[0]', replicas(provide), replicas(provideLikewise)],
    ['rwSplit.replicas[0].name', replicas({ host: 'h2' }), replicas({ host: 'h2', name: 'n' })],
    ['rwSplit.replicas[0].weight', replicas({ host: 'h2' }), replicas({ host: 'h2', weight: 2 })],
    [
      'rwSplit.replicas[0].tags[0]',
      replicas({ host: 'h2' }),
      replicas({ host: 'h2', tags: ['t'] }),
    ],
    [
      'rwSplit.replicas[0].pool.max',
      replicas({ host: 'h2' }),
      replicas({ host: 'h2', pool: { max: 3 } }),
    ],
    ['rwSplit.target', split({ consistency: 'eventual' }), split({ target: 'any' })],
    ['rwSplit.primaryReads', {}, split({ primaryReads: true })],
    ['rwSplit.fallbackShare', {}, split({ fallbackShare: 1 })],
    ['rwSplit.maxLag', {}, split({ maxLag: false })],
    ['rwSplit.maxLag.bytes', {}, split({ maxLag: { millis: 60_000, bytes: 1 } })],
    ['rwSplit.health.fall', {}, split({ health: { fall: 1 } })],
    ['rwSplit.maxPerServer', split({ maxPerServer: 20 }), split({ maxPerServer: 21 })],
    ['rwSplit.prepare', {}, split({ prepare: { max: 1 } })],
    ['rwSplit.pooler', {}, split({ pooler: 'session' })],
    [
      'rwSplit.discovery.intervalMillis',
      split({ replicas: discover }),
      split({ replicas: discover, discovery: { intervalMillis: 1 } }),
    ],
  ])('are refused at construction where they differ in %s', (path, one, other) => {
    const error = refusal(one, other);

    expect(error.path).toBe(path);
    expect(error.message).toContain(`"tests" are in use by a client that differs in ${path};`);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('secret');
    expect(driver.dialled).toEqual([]);
  });

  it('are not in the way of those that come when all are destroyed, or of other names', async () => {
    const first = make({});
    const named = make(split({ pools: 'other tests' }));
    expect(isShared(first, named)).toBe(false);
    await first.destroy();

    const next = make({ connection: { ...connection, host: 'h9' } });

    expect(rwSplit(next).hosts()[0]?.name).toBe('h9:5432');
  });

  it('are those of a client that is made of another one’s configuration', () => {
    const first = make({});

    const second = knex({ ...first.client.config, client });
    open.push(second);

    expect(isShared(first, second)).toBe(true);
  });

  it('leave nothing behind where a client can’t be made', () => {
    const wrong = (): Knex => make(split({ balancer: (() => undefined) as never }));
    expect(wrong).toThrow(ConfigError);

    expect(() => make({ connection: { ...connection, host: 'h9' } })).not.toThrow();
  });

  it('are checked by initialize() with other settings, too', async () => {
    const [first, second] = [make({}), make({})];
    await second.destroy();

    expect(() => second.initialize({ pool: { max: 3 } })).toThrow(
      expect.objectContaining({ path: 'pool.max' }),
    );

    await first.destroy();
    second.initialize({ pool: { max: 3 } });
    expect(second.client.pool.max).toBe(3);
  });
});

describe('A PoolRegistry', () => {
  it('gives clients of the same hosts and users the same pools, and others pools of their own', () => {
    const pools = new PoolRegistry();
    const [one, same, user, host] = [
      make(split({ pools })),
      make(split({ pools })),
      make({ connection: { ...connection, user: 'v' }, rwSplit: { pools } }),
      make(split({ pools, replicas: [{ host: 'h2' }] })),
    ] as const;

    expect(isShared(one, same)).toBe(true);
    for (const other of [user, host]) expect(isShared(one, other)).toBe(false);
    expect(isShared(one, make(split({ pools: new PoolRegistry() })))).toBe(false);
    expect(isShared(one, make({}))).toBe(false);
  });

  it('refuses other settings of the same hosts and users', () => {
    const pools = new PoolRegistry('shop');

    const { path, message } = refusal(split({ pools }), {
      connection: { ...connection, password: 'other secret' },
      rwSplit: { pools },
    });

    expect(path).toBe('connection.password');
    expect(message).toContain('the registry "shop"');
  });

  it('shows nothing of its pools', () => {
    const pools = new PoolRegistry('shop');
    const db = make(split({ pools }));

    expect(inspect(pools, { depth: 9, showHidden: true })).toBe("PoolRegistry { name: 'shop' }");
    expect(inspect(db.client.pool, { depth: 9, showHidden: true })).not.toContain('secret');
    expect(inspect(db.client.config, { depth: 9 })).not.toContain('secret');
  });
});

async function discover(): Promise<[]> {
  return [];
}

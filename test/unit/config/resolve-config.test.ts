import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type Knex, knex } from 'knex';
import { Client, Pool } from 'pg';
import { resolveConfig } from '../../../lib/config/resolve-config.ts';
import type { HostSettings, RWSplitSettings } from '../../../lib/config/settings.ts';

/** What a Knex client's constructor is given, after Knex has had its way with it. */
function asKnexGives(config: Knex.Config): Knex.Config {
  return knex({ client: 'pg', ...config }).client.config;
}

function settingsOf(config: Knex.Config): RWSplitSettings {
  const { settings } = resolveConfig(config);
  if (settings === undefined) throw new Error('a plain configuration');
  return settings;
}

function hosts({ primary, replicas }: RWSplitSettings): readonly HostSettings[] {
  return typeof replicas === 'function' ? [primary] : [primary, ...replicas];
}

function names(config: Knex.Config): readonly string[] {
  return hosts(settingsOf(config)).map(({ name }) => name);
}

const url = 'postgres://app:planted@h1:5432,h2,[::1]:5433/db';
const object = { host: 'h1', user: 'app', password: 'planted', database: 'db' };
const expiring = { ...object, expirationChecker: (): boolean => true };

const forms: readonly (readonly [string, Knex.Config])[] = [
  ['a URL with several hosts', asKnexGives({ connection: url })],
  [
    'a URL whose last host has a port',
    asKnexGives({ connection: 'postgres://a:planted@h1,h2:1/d' }),
  ],
  ['a connectionString', asKnexGives({ connection: { connectionString: url } })],
  [
    'an object',
    { connection: object, rwSplit: { replicas: [{ host: 'h2', password: 'planted2' }] } },
  ],
  [
    'replicas as URLs',
    { connection: object, rwSplit: { replicas: ['postgres://u:planted2@h2/x'] } },
  ],
  [
    'replicas as connectionStrings',
    {
      connection: object,
      rwSplit: { replicas: [{ connectionString: 'postgres://u:planted2@h2/x', weight: 2 }] },
    },
  ],
  ['a function', { connection: () => expiring, rwSplit: { replicas: [{ host: 'h2' }] } }],
  ['a replica as a function', { connection: object, rwSplit: { replicas: [() => object] } }],
  [
    'an async function for all replicas',
    { connection: object, rwSplit: { replicas: () => Promise.resolve([{ host: 'h2' }]) } },
  ],
  [
    'a secret for tokens',
    { connection: object, rwSplit: { consistency: { token: { secret: 'planted3' } } } },
  ],
  [
    'a key for TLS',
    {
      connection: { ...object, ssl: { key: 'planted4', passphrase: 'planted5', ca: 'root' } },
      rwSplit: { replicas: [{ host: 'h2', ssl: { key: 'planted4' } }] },
    },
  ],
];

/** Everything in a value, hidden or not, but for functions, which are made anew. */
function reveal(value: unknown): string {
  return inspect(value, { depth: 12, showHidden: true, sorted: true }).replaceAll(
    /\[(Async)?Function[^\]]*\]/g,
    'fn',
  );
}

describe('resolveConfig', () => {
  it.each<[string, Knex.Config]>([
    ['an object', { connection: object }],
    ['no connection', {}],
    ['a URL', asKnexGives({ connection: 'postgres://app:x@h1/db?targetServerType=any' })],
    ['a connectionString', { connection: { connectionString: 'postgres://app:x@h1/db' } }],
    ['a function', { connection: () => object }],
    ['rwSplit that is undefined', { connection: object, rwSplit: undefined }],
    ['a pool of its own', { connectionPool: new Pool() }],
  ])('returns a plain configuration itself: %s', (_, config) => {
    const resolved = resolveConfig(config);

    expect(resolved.config).toBe(config);
    expect(resolved.settings).toBeUndefined();
  });

  it('mends a plain URL that Knex takes for a file', () => {
    const config = asKnexGives({ connection: 'postgres://app:planted@/db' });

    const resolved = resolveConfig(config);

    expect(config.connection).toHaveProperty('filename');
    expect(resolved.config.connection).toEqual({ user: 'app', database: 'db' });
    expect(resolved.settings).toBeUndefined();
  });

  it.each<[string, Knex.Config, readonly string[]]>([
    ['a URL', { connection: url }, ['h1:5432', 'h2:5432', '[::1]:5433']],
    [
      'a connectionString',
      { connection: { connectionString: url } },
      ['h1:5432', 'h2:5432', '[::1]:5433'],
    ],
    [
      'a URL that new URL() takes',
      { connection: 'postgres://h1,h2:5433/db' },
      ['h1:5432', 'h2:5433'],
    ],
    ['one host', { connection: 'postgres://h1/db', rwSplit: {} }, ['h1:5432']],
    ['no replicas', { connection: object, rwSplit: { replicas: [] } }, ['h1:5432']],
    ['a socket', { connection: { host: '/tmp' }, rwSplit: {} }, ['/tmp']],
    [
      'a function',
      { connection: () => object, rwSplit: { replicas: [() => object] } },
      ['primary', 'replica-1'],
    ],
    [
      'replicas in each form',
      {
        connection: object,
        rwSplit: { replicas: [{ host: 'h2' }, 'postgres://h3:1/x', () => object] },
      },
      ['h1:5432', 'h2:5432', 'h3:1', 'replica-3'],
    ],
    [
      'a written primary',
      { connection: 'postgres://h1,h2/db?writeDataSourceAddress=h2:5432' },
      ['h2:5432', 'h1:5432'],
    ],
    [
      'replicas that are written beside a URL with several hosts',
      { connection: 'postgres://h1,h2/db', rwSplit: { replicas: ['postgres://h3'] } },
      ['h1:5432', 'h3:5432'],
    ],
  ])('finds the hosts of %s', (_, config, expected) => {
    expect(names(asKnexGives(config))).toEqual(expected);
  });

  it('presumes the primary where pg would, if none is written', () => {
    const { PGHOST: host, PGPORT: port } = process.env;
    process.env['PGHOST'] = 'env-host';
    process.env['PGPORT'] = '6000';
    try {
      expect(names({ connection: {}, rwSplit: { replicas: [{ host: 'h2' }] } })).toEqual([
        'env-host:6000',
        'h2:6000',
      ]);
    } finally {
      delete process.env['PGHOST'];
      delete process.env['PGPORT'];
      Object.assign(process.env, host && { PGHOST: host }, port && { PGPORT: port });
    }
  });

  it('lets what is written in rwSplit win over the URL', () => {
    const connection = 'postgres://h1,h2/db?targetServerType=primary&autoBalance=priority9';
    const rwSplit = { target: 'replica', balancer: 'shuffle' } as const;

    expect(resolveConfig(asKnexGives({ connection, rwSplit })).config.rwSplit).toMatchObject(
      rwSplit,
    );
    expect(settingsOf(asKnexGives({ connection, rwSplit })).target).toBe('replica');
  });

  it('takes a target from the URL', () => {
    const connection = 'postgres://h1,h2/db?target_session_attrs=prefer-standby';

    expect(settingsOf(asKnexGives({ connection })).target).toBe('prefer-replica');
  });

  it('gives every host the pool of Knex', () => {
    const config = { connection: url, pool: { min: 0, max: 7 } };

    expect(hosts(settingsOf(asKnexGives(config))).map(({ pool }) => pool)).toEqual([
      config.pool,
      config.pool,
      config.pool,
    ]);
  });

  it('keeps what else the configuration holds', () => {
    const mark = Symbol('mark');
    const config = { ...asKnexGives({ connection: url, searchPath: ['a'] }), [mark]: 1 };

    expect(resolveConfig(config).config).toMatchObject({
      client: 'pg',
      searchPath: ['a'],
      [mark]: 1,
    });
  });

  it.each(forms)('shows no secret: %s', (_, config) => {
    const { config: safe, settings } = resolveConfig(config);

    // The user's own functions and their answers are not ours to hide.
    const shown = [safe, settings].map(
      (each) => inspect(each, { depth: 12 }) + JSON.stringify(each) + JSON.stringify({ ...each }),
    );
    expect(shown.join()).not.toContain('planted');
  });

  it.each(forms)('resolves what it returned to the same: %s', (_, config) => {
    const first = resolveConfig(config);
    const second = resolveConfig({ ...first.config });

    expect(reveal(second)).toEqual(reveal(first));
  });

  it.each(forms)('leaves the objects of the user as they are: %s', (_, config) => {
    const look = (): string => inspect(config, { depth: 12, showHidden: true });
    const before = look();

    resolveConfig(config);

    expect(look()).toBe(before);
    expect([config.connection ?? {}, config.rwSplit ?? {}].some(Object.isFrozen)).toBe(false);
  });

  it.each(forms)('gives Knex what pg can dial: %s', (_, config) => {
    const { client } = knex({ client: 'pg', ...resolveConfig(config).config });

    const { host, password } = new Client(client.connectionSettings ?? object);

    expect([host, password]).toEqual(['h1', 'planted']);
  });

  it.each<[string, string, Knex.Config]>([
    ['rwSplit', 'no options', { connection: object, rwSplit: JSON.parse('true') }],
    ['rwSplit', 'null', { connection: object, rwSplit: JSON.parse('null') }],
    [
      'rwSplit.replicas',
      'one host alone',
      { connection: object, rwSplit: JSON.parse('{"replicas":{}}') },
    ],
    [
      'rwSplit.replicas[1].weight',
      'a bad weight',
      { connection: object, rwSplit: { replicas: [{ host: 'h2' }, { host: 'h3', weight: -1 }] } },
    ],
    [
      'rwSplit.replicas[0]',
      'the primary',
      { connection: object, rwSplit: { replicas: [{ host: 'h1' }] } },
    ],
    [
      'rwSplit.balancer',
      'an unknown balancer',
      { connection: object, rwSplit: { balancer: 'random' } },
    ],
    [
      'rwSplit.balancer.first',
      'too high a priority',
      {
        connection: object,
        rwSplit: { replicas: ['postgres://h2'], balancer: { name: 'priority', first: 2 } },
      },
    ],
    [
      'rwSplit.balancer.first',
      'too high a priority in the URL',
      asKnexGives({ connection: 'postgres://h1,h2/db?autoBalance=priority2' }),
    ],
    [
      'rwSplit.replcas',
      'an unknown option',
      { connection: object, rwSplit: JSON.parse('{"replcas":[]}') },
    ],
    ['connectionPool', 'a foreign pool', { connectionPool: new Pool(), rwSplit: {} }],
    [
      'connection',
      'a malformed URL',
      asKnexGives({ connection: 'postgres://u:planted@h1:x,h2/db' }),
    ],
    [
      'connection',
      'a malformed URL of one host',
      asKnexGives({ connection: 'postgres://u:planted@h1:x/db' }),
    ],
    [
      'connection.port',
      'a malformed port',
      { connection: { ...object, port: Number.NaN }, rwSplit: {} },
    ],
    [
      'connection.autoBalance',
      'an unknown word',
      asKnexGives({ connection: 'postgres://h1,h2/db?autoBalance=x' }),
    ],
    [
      'pool.max',
      'a pool of min above max',
      { connection: object, pool: { min: 3, max: 1 }, rwSplit: {} },
    ],
  ])('refuses a bad %s: %s', (path, _, config) => {
    let error: unknown;
    try {
      resolveConfig(config);
    } catch (thrown) {
      error = thrown;
    }

    expect(error).toMatchObject({ name: 'ConfigError', code: 'RWSPLIT_CONFIG', path });
    expect(inspect(error)).not.toContain('planted');
  });
});

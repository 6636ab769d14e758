import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { rwSplit, RWSplitClient } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

/** Everything that logs and reports may make of a value. */
function shown(value: unknown): string {
  const texts = [
    inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null }),
    inspect(value, { depth: 12, showHidden: false, getters: true }),
    String(value),
  ];
  for (const part of [value, ...partsOf(value)]) {
    for (const write of [JSON.stringify, copied]) {
      try {
        texts.push(write(part));
      } catch {
        // It has cycles or functions, and so can't be written this way; what is in it may be.
      }
    }
  }
  if (value instanceof Error)
    texts.push(value.message, value.stack ?? '', shown(value.cause ?? ''));
  return texts.join('\n');
}

/** What is in an object, and in that, some levels deep. */
function partsOf(value: unknown, levels = 4): unknown[] {
  if (levels === 0 || typeof value !== 'object' || value === null) return [];
  const parts: unknown[] = Object.values(value);
  return parts.flatMap((part) => [part, ...partsOf(part, levels - 1)]);
}

function copied(value: unknown): string {
  return inspect(structuredClone(value), { depth: null });
}

const planted = [
  'planted-primary',
  'planted-replica',
  'planted:/@%',
  'planted%3A%2F%40%25',
  'planted-token-secret-of-32-bytes-or-more',
  'planted-older-secret-of-32-bytes-or-more',
  'planted-key-of-tls',
] as const;
const [ofPrimary, ofReplica, special, specialInUrl, tokenSecret, olderSecret, tlsKey] = planted;

function secretsIn(value: unknown, secrets: readonly string[] = planted): string[] {
  const text = shown(value);
  return secrets.filter((secret) => text.includes(secret));
}

describe('A password', () => {
  const cluster = useRoutingDatabase(`
    do $$ begin
      create role planted_primary login superuser password '${ofPrimary}';
      create role planted_replica login superuser password '${ofReplica}';
      create role planted_special login superuser password '${special}';
    exception when duplicate_object then null;
    end $$;
  `);

  const database = (): string => cluster().database;
  const ports = (): [number, number] => [cluster().primary.port, cluster().replicas[0]?.port ?? 0];

  const plantedPrimary = (): Knex.PgConnectionConfig => ({
    host: '127.0.0.1',
    port: ports()[0],
    user: 'planted_primary',
    password: ofPrimary,
    database: database(),
  });

  const forms: [string, () => Knex.Config][] = [
    [
      'objects',
      () => ({
        connection: plantedPrimary(),
        rwSplit: {
          replicas: [
            { host: '127.0.0.1', port: ports()[1], user: 'planted_replica', password: ofReplica },
          ],
        },
      }),
    ],
    [
      'URLs',
      () => ({
        connection: `postgres://planted_primary:${ofPrimary}@127.0.0.1:${ports()[0]}/${database()}`,
        rwSplit: {
          replicas: [
            `postgres://planted_replica:${ofReplica}@127.0.0.1:${ports()[1]}/${database()}`,
          ],
        },
      }),
    ],
    [
      'a URL with several hosts',
      () => ({
        connection: `postgres://planted_primary:${ofPrimary}@127.0.0.1:${ports().join(',127.0.0.1:')}/${database()}`,
      }),
    ],
    [
      'a connectionString',
      () => ({
        connection: {
          connectionString: `postgres://planted_primary:${ofPrimary}@127.0.0.1:${ports().join(',127.0.0.1:')}/${database()}`,
        },
      }),
    ],
    [
      'functions',
      () => ({
        connection: () => ({
          host: '127.0.0.1',
          port: ports()[0],
          user: 'planted_primary',
          password: ofPrimary,
          database: database(),
        }),
        rwSplit: {
          replicas: [
            async () => ({
              host: '127.0.0.1',
              port: ports()[1],
              user: 'planted_replica',
              password: ofReplica,
            }),
          ],
        },
      }),
    ],
    [
      'a URL with several hosts and a password that it has to encode',
      () => ({
        connection: `postgres://planted_special:${specialInUrl}@127.0.0.1:${ports().join(',127.0.0.1:')}/${database()}?connect_timeout=5`,
      }),
    ],
    [
      'a connectionString of each host',
      () => ({
        connection: {
          connectionString: `postgres://planted_primary:${ofPrimary}@127.0.0.1:${ports()[0]}/${database()}`,
        },
        rwSplit: {
          replicas: [
            {
              connectionString: `postgres://planted_special:${specialInUrl}@127.0.0.1:${ports()[1]}/${database()}`,
            },
          ],
        },
      }),
    ],
    [
      'functions that give URLs',
      () => ({
        // Knex types objects alone.
        connection: (async () =>
          `postgres://planted_primary:${ofPrimary}@127.0.0.1:${ports()[0]}/${database()}`) as unknown as Knex.ConnectionConfigProvider,
        rwSplit: {
          replicas: [
            () =>
              `postgres://planted_special:${specialInUrl}@127.0.0.1:${ports()[1]}/${database()}`,
          ],
        },
      }),
    ],
    [
      'a function of the password alone',
      () => ({
        connection: {
          host: '127.0.0.1',
          port: ports()[0],
          user: 'planted_primary',
          password: async () => ofPrimary,
          database: database(),
        },
        rwSplit: {
          replicas: [
            {
              host: '127.0.0.1',
              port: ports()[1],
              user: 'planted_replica',
              password: () => ofReplica,
            },
          ],
        },
      }),
    ],
    [
      'secrets of tokens, and keys of TLS',
      () => ({
        connection: plantedPrimary(),
        rwSplit: {
          replicas: [
            { host: '127.0.0.1', port: ports()[1] },
            { host: '127.0.0.1', port: 3, ssl: { key: tlsKey, passphrase: tlsKey } },
          ],
          consistency: { token: { secret: [tokenSecret, olderSecret] } },
        },
      }),
    ],
    [
      'a function that names the replicas',
      () => ({
        connection: plantedPrimary(),
        rwSplit: {
          replicas: async () => [
            { host: '127.0.0.1', port: ports()[1], user: 'planted_replica', password: ofReplica },
          ],
        },
      }),
    ],
  ];

  it.each(forms)('is in nothing that can be printed: %s', async (_, config) => {
    const warnings: string[] = [];
    const log = { warn: (message: string) => warnings.push(message) };
    const db = knex({ client: RWSplitClient, log, pool: { min: 0, max: 2 }, ...config() });
    const events: unknown[] = [];
    for (const event of ['query', 'query-response', 'query-error'])
      db.on(event, (...args) => events.push(args));
    const handle = rwSplit(db)
      .on('route', (event) => events.push(event))
      .on('retry', (event) => events.push(event))
      .on('misroute', (event) => events.push(event))
      .on('host:up', (event) => events.push(event))
      .on('host:down', (event) => events.push(event))
      .on('host:role', (event) => events.push(event));

    const served = [await db('here').pluck('host'), await db('here').pluck('host')].flat();
    const failure = await db.raw('select 1 / 0').catch((error: unknown) => error);
    const explained = await handle.explain(db('here'));
    const printed = {
      config: secretsIn(db.client.config),
      handle: secretsIn(handle),
      hosts: secretsIn(handle.hosts()),
      events: secretsIn(events.map((event) => event)),
      failure: secretsIn(failure),
      explained: secretsIn(explained),
      warnings: secretsIn(warnings),
      pool: secretsIn(db.client.pool),
      builder: secretsIn(db('here')),
      token: secretsIn(handle.token()),
      settings: secretsIn(db.client.connectionSettings),
      client: secretsIn(db.client),
      clone: secretsIn(db.withUserParams({}).client),
      transaction: await db.transaction(async (trx) => secretsIn(trx.client)),
    };
    await db.destroy();

    expect(served).toContain('replica-1');
    expect(Object.entries(printed).filter(([, secrets]) => secrets.length > 0)).toEqual([]);
  });

  it.each(forms)('is not even among what is hidden of the handle: %s', async (_, config) => {
    const db = knex({ client: RWSplitClient, ...config() });
    const handle = rwSplit(db);

    const text = inspect([handle, handle.hosts()], { depth: null, showHidden: true });
    await db.destroy();

    expect(planted.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it.each(forms)(
    'is in no error of a host that cannot be reached or refuses: %s',
    async (_, config) => {
      const { connection, ...rest } = config();
      const wrong = JSON.parse(
        JSON.stringify(
          typeof connection === 'function'
            ? { host: '127.0.0.1', user: 'planted_primary', password: ofPrimary }
            : connection,
        )
          .replaceAll(String(ports()[0]), '1')
          .replaceAll(String(ports()[1]), '2'),
      ) as Knex.StaticConnectionConfig;
      const warnings: string[] = [];
      const log = { warn: (message: string) => warnings.push(message) };
      const rwSplit = { ...rest.rwSplit, failover: { waitMillis: 50 } };
      const db = knex({ client: RWSplitClient, log, ...rest, connection: wrong, rwSplit });

      const error = await db('notes')
        .insert({ rank: 1 })
        .catch((reason: unknown) => reason);
      await db.destroy();

      expect(error).toBeInstanceOf(Error);
      expect(secretsIn(error)).toEqual([]);
      expect(secretsIn(warnings)).toEqual([]);
    },
  );

  it.each<[string, Knex.Config]>([
    [
      'an unknown option',
      {
        connection: { password: ofPrimary },
        rwSplit: { replica: [{ password: ofReplica }] } as never,
      },
    ],
    [
      'a replica that is none',
      {
        connection: { password: ofPrimary },
        rwSplit: { replicas: [{ password: ofReplica, weight: -1 }] },
      },
    ],
    ['a URL that is none', { connection: `postgres://u:${ofPrimary}@h1:x,h2/db` }],
    [
      'a URL with an unknown parameter',
      { connection: `postgres://u:${ofPrimary}@h1,h2/db?targetServerType=none` },
    ],
    [
      'a pool of the application',
      {
        connectionPool: {} as never,
        rwSplit: { replicas: [] },
      },
    ],
  ])('is in no error of a configuration: %s', (_, config) => {
    let error: unknown;
    try {
      knex({ client: RWSplitClient, ...config });
    } catch (thrown) {
      error = thrown;
    }

    expect(error).toMatchObject({ name: 'ConfigError' });
    expect(secretsIn(error)).toEqual([]);
  });

  it('is left in the objects that the application wrote', () => {
    const replica = { host: 'r', password: ofReplica };
    const connection = { host: 'p', password: ofPrimary };

    knex({ client: RWSplitClient, connection, rwSplit: { replicas: [replica] } });

    expect([connection, replica]).toEqual([
      { host: 'p', password: ofPrimary },
      { host: 'r', password: ofReplica },
    ]);
  });
});

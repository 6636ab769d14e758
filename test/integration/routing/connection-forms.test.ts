import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { ConfigError, RWSplitClient, rwSplit } from '../../../lib/index.ts';
import type { Cluster } from '../../../lib/testing/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

type Form = (cluster: Cluster) => Knex.Config;

function urlsOf({ hosts, url }: Cluster): [string, ...string[]] {
  const [, before = '', after = ''] = /^(.*@).*(\/.*)$/.exec(url) ?? [];
  const [first = '', ...more] = hosts.map(({ host, port }) => `${before}${host}:${port}${after}`);
  return [first, ...more];
}

const forms: [string, Form][] = [
  ['objects', (c) => ({ connection: c.connection(), rwSplit: { replicas: replicasOf(c) } })],
  ['one URL with all hosts', ({ url }) => ({ connection: url })],
  ['a connectionString with all hosts', ({ url }) => ({ connection: { connectionString: url } })],
  [
    'postgresql:// as the scheme',
    ({ url }) => ({ connection: url.replace('postgres:', 'postgresql:') }),
  ],
  ['lists of hosts and ports', (c) => ({ connection: { ...c.connection(), ...lists(c) } })],
  [
    'a URL for each host',
    (c) => ({ connection: urlsOf(c)[0], rwSplit: { replicas: urlsOf(c).slice(1) } }),
  ],
  [
    'a connectionString for each host',
    (c) => ({
      connection: { connectionString: urlsOf(c)[0] },
      rwSplit: {
        replicas: urlsOf(c)
          .slice(1)
          .map((connectionString) => ({ connectionString })),
      },
    }),
  ],
  [
    'functions',
    (c) => ({
      connection: async () => c.connection(),
      rwSplit: { replicas: replicasOf(c).map(({ host, port }) => async () => ({ host, port })) },
    }),
  ],
  [
    'a function for the primary alone',
    (c) => ({ connection: () => c.connection(), rwSplit: { replicas: replicasOf(c) } }),
  ],
  [
    'a function that answers with the list of replicas',
    (c) => ({ connection: c.connection(), rwSplit: { replicas: async () => replicasOf(c) } }),
  ],
  [
    'an object with a password function',
    (c) => ({
      connection: { ...c.connection(), password: () => c.password },
      rwSplit: { replicas: replicasOf(c) },
    }),
  ],
];

// Lists are no form that Knex types: it makes them of a URL with several hosts itself.
function lists({ hosts }: Cluster): { host: string; port: number } {
  const host = hosts.map((each) => each.host).join(',');
  const port: unknown = hosts.map((each) => each.port).join(',');
  return { host, port: port as number };
}

describe('A connection', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it.each(forms)('written as %s reads from replicas and writes to the primary', async (_, form) => {
    const { db, servers } = split.cold({ rwSplit: {}, ...form(cluster()) });

    await db('notes').insert({ rank: 1 });
    for (let read = 0; read < 4; read++) await db.raw('select 1');

    const [written, ...read] = servers();
    expect(written).toBe('primary');
    expect(new Set(read)).toEqual(new Set(['replica-1', 'replica-2']));
  });

  it.each(forms)('written as %s shows no password', (_, form) => {
    const { db } = split.cold({ rwSplit: {}, ...form(cluster()) });
    const { config } = db.client as { config: object };

    const shown = [
      inspect(rwSplit(db), { depth: 9 }),
      inspect(rwSplit(db).hosts(), { depth: 9 }),
      JSON.stringify(rwSplit(db).hosts()),
      inspect(config, { depth: 9 }),
      JSON.stringify(config),
    ].join('\n');

    expect(shown).not.toContain(cluster().password);
  });

  it('leaves the settings of the application as they were', () => {
    const connection = Object.freeze({ ...cluster().connection() });
    const replicas = Object.freeze(replicasOf(cluster()).map((replica) => Object.freeze(replica)));

    split.cold({ connection, rwSplit: Object.freeze({ replicas }) });

    expect(connection.password).toBe(cluster().password);
  });

  it('asks an expired function again, of the primary and of a replica', async () => {
    let hour = 0;
    const asked: string[] = [];
    const answer = <T extends object>(name: string, settings: T): T => {
      const since = hour;
      asked.push(name);
      return { ...settings, expirationChecker: () => since < hour };
    };
    const [replica] = replicasOf(cluster());
    const { host, port } = replica ?? {};
    const { db } = split.cold({
      connection: () => answer('primary', cluster().connection()),
      rwSplit: { replicas: [() => answer('replica', { host, port })] },
    });
    const useBoth = async (): Promise<string[]> => {
      await db.raw('select 1');
      await db('notes').insert({ rank: 1 });
      return asked.splice(0).toSorted((a, b) => a.localeCompare(b));
    };

    await rwSplit(db).checkNow();
    const probed = asked.splice(0).toSorted((a, b) => a.localeCompare(b));
    const first = await useBoth();
    const again = await useBoth();
    hour++;
    const later = await useBoth();

    // A replica inherits from the primary, so that its function is never asked alone.
    expect(probed).toEqual(['primary', 'primary', 'replica']);
    expect(first).toEqual(probed);
    expect(again).toEqual([]);
    expect(later).toEqual(first);
  });

  it('without replicas is one host for everything', async () => {
    const { db, servers } = split.cold({ rwSplit: { replicas: [] } });

    await db('notes').select();
    await db('notes').insert({ rank: 1 });
    await db.transaction(async (trx) => trx('notes').select(), { readOnly: true });

    expect(new Set(servers())).toEqual(new Set(['primary']));
    expect(rwSplit(db).hosts()).toHaveLength(1);
  });

  it('passes TLS on to every host', async () => {
    const { db } = split.cold({
      connection: { ...cluster().connection(), ssl: { rejectUnauthorized: false } },
      rwSplit: { replicas: replicasOf(cluster()) },
    });
    const message = 'The server does not support SSL connections';

    await expect(db('notes').insert({})).rejects.toThrow(message);
    await expect(db.raw('select 1')).rejects.toThrow(message);
  });

  it.each([
    [
      'in the list',
      (): object[] => [...replicasOf(cluster()), { ...replicasOf(cluster())[0], name: 'again' }],
    ],
    [
      'as the primary, too',
      (): object[] => [{ host: cluster().primary.host, port: cluster().primary.port }],
    ],
  ])('to one host twice is refused: %s', (_, replicas) => {
    const config = {
      client: RWSplitClient,
      connection: cluster().connection(),
      rwSplit: { replicas: replicas() },
    };

    expect(() => knex(config)).toThrow(ConfigError);
    expect(() => knex(config)).toThrow('is the same host as');
  });
});

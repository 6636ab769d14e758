import { describe, expect, it } from '@jest/globals';
import { mergeConnections, type ConnectionObject } from '../../../lib/config/connection-object.ts';
import { readHostEntry } from '../../../lib/config/host-entry.ts';
import { environmentDefaults, unknownDefaults } from '../../../lib/config/host-key.ts';
import { type ReplicaBase, resolveReplicas } from '../../../lib/config/resolve-replicas.ts';
import type { ConnectionProvider, HostSettings } from '../../../lib/config/settings.ts';

const connection = mergeConnections({
  host: 'h1',
  port: 5432,
  user: 'app',
  database: 'db',
  password: 'hunter2',
});
const primary: HostSettings = {
  name: 'h1:5432',
  key: 'h1:5432/db/app',
  connection,
  weight: 1,
  tags: [],
  pool: {},
};
const known: ReplicaBase = { primary, pool: { min: 0, max: 9 }, defaults: environmentDefaults({}) };
const unknown: ReplicaBase = {
  primary: {
    ...primary,
    name: 'primary',
    key: undefined,
    connection: () => Promise.resolve(connection),
  },
  pool: undefined,
  defaults: unknownDefaults,
};

function resolve(hosts: readonly unknown[], base: ReplicaBase = known): readonly HostSettings[] {
  const entries = hosts.map((host, index) => readHostEntry(host, `rwSplit.replicas[${index}]`));
  return resolveReplicas(entries, base);
}

async function dial(
  of: ConnectionObject | ConnectionProvider | undefined,
): Promise<ConnectionObject> {
  return typeof of === 'function' ? of() : mergeConnections({ ...of }, { password: of?.password });
}

describe('resolveReplicas', () => {
  it("inherits the primary's settings and Knex's pool", () => {
    const [replica] = resolve([{ host: 'h2', pool: { max: 3 }, weight: 2, tags: ['eu'] }]);

    expect(replica).toEqual({
      name: 'h2:5432',
      key: 'h2:5432/db/app',
      connection: {
        host: 'h2',
        port: 5432,
        user: 'app',
        database: 'db',
        connectionTimeoutMillis: 5000,
        keepAlive: true,
      },
      weight: 2,
      tags: ['eu'],
      pool: { min: 0, max: 3 },
    });
    expect(Reflect.get(Object(replica?.connection), 'password')).toBe('hunter2');
  });

  it('gives each database of a server, and each user, a host', () => {
    const hosts = ['postgres://h1/other', { user: 'reader' }, { port: 5433 }];

    expect(resolve(hosts).map(({ key }) => key)).toEqual([
      'h1:5432/other/app',
      'h1:5432/db/reader',
      'h1:5433/db/app',
    ]);
  });

  it.each([
    ['addresses', [{ host: 'h2' }, { host: '::1', port: 1 }], ['h2:5432', '[::1]:1']],
    ['names', [{ host: 'h2', name: 'b' }], ['b']],
    ['their place, where a function knows', [{ host: 'h2' }, () => ({})], ['h2:5432', 'replica-2']],
    [
      'their keys, where an address is taken',
      [{ host: 'h1', database: 'x' }, { host: '/tmp' }, { host: '/tmp', port: 1 }],
      ['h1:5432/x/app', '/tmp', '/tmp:1/db/app'],
    ],
    [
      'their keys, where an address is the name of a later one',
      [{ host: 'h2' }, { host: 'h3', name: 'h2:5432' }],
      ['h2:5432/db/app', 'h2:5432'],
    ],
  ])('names hosts after %s', (_, hosts, names) => {
    expect(resolve(hosts).map(({ name }) => name)).toEqual(names);
  });

  it.each<[string, readonly unknown[], string, RegExp]>([
    ['the primary again', [{ port: 5432 }], 'rwSplit.replicas[0]', /same host as connection/],
    [
      'the primary in other words',
      ['postgres://app@H1:5432/db'],
      'rwSplit.replicas[0]',
      /h1:5432\/db\/app/,
    ],
    [
      'a host twice',
      [{ host: 'h2' }, { host: 'H2' }],
      'rwSplit.replicas[1]',
      /as rwSplit.replicas\[0\]/,
    ],
    ['IPv6 twice', [{ host: '::1' }, { host: '0:0::1' }], 'rwSplit.replicas[1]', /same host/],
    [
      'a name twice',
      [
        { host: 'h2', name: 'b' },
        { host: 'h3', name: 'b' },
      ],
      'rwSplit.replicas[1].name',
      /name "b" of rwSplit.replicas\[0\]/,
    ],
    [
      "the primary's name",
      [{ host: 'h2', name: 'h1:5432' }],
      'rwSplit.replicas[0].name',
      /of connection/,
    ],
    [
      'a name that a function needs',
      [() => ({}), { host: 'h2', name: 'replica-1' }],
      'rwSplit.replicas[0].name',
      /of rwSplit.replicas\[1\]/,
    ],
    [
      'a pool of min above max',
      [{ host: 'h2', pool: { min: 10 } }],
      'rwSplit.replicas[0].pool.max',
      /9/,
    ],
  ])('refuses %s', (_, hosts, path, message) => {
    expect(() => resolve(hosts)).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        path,
        message: expect.stringMatching(message),
      }),
    );
  });

  it('asks a function for what it says of itself', async () => {
    const [replica] = resolve([() => Promise.resolve('postgres://reader@h2/db')]);

    expect(replica?.key).toBeUndefined();
    const dialled = await dial(replica?.connection);
    expect(dialled).toMatchObject({ host: 'h2', port: 5432, user: 'reader', database: 'db' });
    expect(dialled.password).toBe('hunter2');
  });

  it.each<[string, () => unknown, RegExp]>([
    ['nothing', () => undefined, /rwSplit\.replicas\[0\]\(\) is undefined/],
    ['several hosts', () => 'postgres://h2,h3/db', /several hosts/],
    ['a weight', () => ({ host: 'h2', weight: 2 }), /has "weight"/],
    ['an unknown setting', () => ({ hots: 'h2' }), /"host"/],
  ])('refuses a function that answers with %s', async (_, ask, message) => {
    const [replica] = resolve([ask]);

    await expect(dial(replica?.connection)).rejects.toThrow(
      expect.objectContaining({ name: 'ConfigError', message: expect.stringMatching(message) }),
    );
  });

  it('inherits from a primary that only a function knows', async () => {
    const [replica] = resolve([{ host: 'h2' }], unknown);

    expect(replica).toMatchObject({ name: 'h2', key: undefined });
    const dialled = await dial(replica?.connection);
    expect(dialled).toMatchObject({ host: 'h2', user: 'app', database: 'db' });
    expect(dialled.password).toBe('hunter2');
  });

  it('finds a host that is written twice also there', () => {
    expect(() => resolve([{ host: 'h2' }, { host: 'h2' }], unknown)).toThrow('same host');
  });
});

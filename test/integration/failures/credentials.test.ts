import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { type Host, rwSplit } from '../../../lib/index.ts';
import { splitOf } from '../../../lib/knex/split-state.ts';
import { hostStates } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { machineMillis, quickHealth } from '../../support/outage.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

const never = async (): Promise<never> => new Promise(() => undefined);

describe('Credentials that change while sessions live', () => {
  // Before the database goes, which is where the role has its privileges.
  afterAll(async () => {
    await cluster().primary.query(`drop owned by ${user}; drop role ${user}`);
  });

  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');
  const user = `rotated_${randomBytes(4).toString('hex')}`;

  beforeAll(async () => {
    await cluster().primary.query(
      `create role ${user} login password 'before'; grant select, insert on notes to ${user}`,
    );
    await cluster().waitForReplay();
  });

  const replicas = (): Host[] => replicasOf(cluster());
  const downs = (db: Knex): string[] => {
    const names: string[] = [];
    rwSplit(db).on('host:down', ({ host }) => names.push(host));
    return names;
  };
  const allUp = (db: Knex): void => {
    expect(new Set(Object.values(hostStates(db)))).toEqual(new Set(['up']));
  };
  const useAll = async (db: Knex): Promise<void> => {
    await db('notes').insert({ rank: 1 });
    for (let n = 0; n < 4; n++) await db('notes').count();
  };

  it('say nothing against open connections when a password is rotated', async () => {
    const { db, servers } = await split.warm({
      connection: { ...cluster().connection(), user, password: 'before' },
      rwSplit: { replicas: replicas(), health: quickHealth },
    });
    const down = downs(db);

    await cluster().primary.query(`alter role ${user} password 'after'`);
    await cluster().waitForReplay();
    await redialAll(db);
    for (let n = 0; n < quickHealth.fall + 1; n++) await rwSplit(db).checkNow();
    await useAll(db);

    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1', 'replica-2']));
    allUp(db);
    expect(down).toEqual([]);
  });

  it.each<[string, () => Promise<object>]>([
    ['fails', async () => Promise.reject(new Error('The vault is sealed'))],
    ['hangs', never],
    ['is slower than a probe may be', async () => sleep(600, cluster().connection())],
  ])('say nothing against open connections when their function %s', async (_, later) => {
    let give = async (): Promise<object> => cluster().connection();
    const { db, servers } = await split.warm({
      connection: async () => give(),
      acquireConnectionTimeout: 2000,
      rwSplit: { replicas: replicas(), health: quickHealth },
    });
    const down = downs(db);

    give = later;
    await redialAll(db);
    for (let n = 0; n < quickHealth.fall + 1; n++) await rwSplit(db).checkNow();
    await useAll(db);

    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1', 'replica-2']));
    allUp(db);
    expect(down).toEqual([]);
  });

  it('may take longer than a probe from the beginning', async () => {
    const { db, servers } = split.cold({
      connection: async () => sleep(600, cluster().connection()),
      rwSplit: { replicas: replicas(), health: quickHealth },
    });
    const down = downs(db);

    await Promise.all([db('notes').count(), db('notes').insert({ rank: 2 })]);

    expect(servers()).toContain('primary');
    allUp(db);
    expect(down).toEqual([]);
  });

  it.each<[string, () => Promise<never>]>([
    ['fails', async () => Promise.reject(new Error('The vault is sealed'))],
    ['hangs', never],
  ])('leave reads to others when the function of a replica %s', async (_, later) => {
    const [first, second] = replicas();
    let give = async (): Promise<Host> => first as Host;
    const { db, servers } = split.cold({
      connection: cluster().connection(),
      acquireConnectionTimeout: 3000,
      pool: { max: 5 },
      rwSplit: { replicas: [async () => give() as Promise<object>, second as Host] },
    });
    await rwSplit(db).checkNow();

    give = later;
    await Promise.all(Array.from({ length: 12 }, async () => db('notes').count()));

    expect(servers()).not.toContain('replica-1');
  });

  const sealed = new Error('The vault is sealed');
  const gone = { code: 'ECONNREFUSED', syscall: 'connect' };
  it.each<[string, () => NonNullable<Knex.Config['connection']>]>([
    ['connection', () => async () => Promise.reject(sealed)],
    [
      'password',
      () => ({ ...cluster().connection(), password: async () => Promise.reject(sealed) }),
    ],
    [
      'password, of a vault that is gone',
      () => ({
        ...cluster().connection(),
        password: async () => Promise.reject(Object.assign(new Error(sealed.message), gone)),
      }),
    ],
    [
      'password, which throws',
      () => ({
        ...cluster().connection(),
        password: () => {
          throw sealed;
        },
      }),
    ],
  ])('fail with the error of their function at once: %s', async (_, connection) => {
    const before = openSockets();
    const { db } = split.cold({ connection: connection(), rwSplit: { replicas: replicas() } });

    const begin = performance.now();
    for (const query of [
      db('notes').insert({ rank: 3 }),
      db('notes').count(),
      db('notes').select('rank').orderBy('rank'),
      db('notes').insert({ rank: 3 }),
    ]) {
      await expect(query).rejects.toThrow(sealed.message);
    }

    expect(performance.now() - begin).toBeLessThan(1000 + machineMillis);
    expect(rwSplit(db).hosts()[0]?.reason).toContain(sealed.message);
    // The server would wait for a password for a minute.
    await db.destroy();
    await eventually(() => openSockets() <= before);
  });
});

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

/** Has each probe dial anew, as it does twice a minute: the name of its host may have moved on. */
async function redialAll(db: Knex): Promise<void> {
  const split = splitOf(db.client);
  if (split === undefined) throw new Error('The instance does not split.');
  const { cluster, monitor } = split.watch;
  await Promise.all(cluster.hosts.map((host) => monitor.check(host, true)));
}

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { onPrimary, PoolRegistry, rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { runProgram } from '../../support/child.ts';
import { amount } from '../../support/long.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { serverOf, useSharedClients } from '../../support/shared-clients.ts';
import { openAll, usedConnections } from '../../support/split.ts';

const hostNames = ['primary', 'replica-1', 'replica-2'];
const nobody = { primary: 0, 'replica-1': 0, 'replica-2': 0 };
const destroyed = 'Unable to acquire a connection';

/** Keeps connections of the primary busy for a while; resolves once they are, with what comes of it. */
async function keepBusy(
  db: Knex,
  seconds: number,
  count = 1,
): Promise<{ readonly ended: Promise<readonly PromiseSettledResult<unknown>[]> }> {
  const used = (): number => rwSplit(db).hosts()[0]?.pool.used ?? 0;
  const before = used();
  const ended = Promise.allSettled(
    Array.from({ length: count }, () => onPrimary(db.raw('select pg_sleep(?)', [seconds]))),
  );
  await eventually(() => used() === before + count, { everyMillis: 5 });
  return { ended };
}

describe('Clients that share pools', () => {
  const cluster = useDatabase();
  const { make, sessions } = useSharedClients(cluster);

  beforeAll(async () => {
    await cluster().primary.query(
      'create table t (id int); create table hits (id serial, name text); grant all on all tables in schema public to public; grant all on all sequences in schema public to public',
    );
    await cluster().waitForReplay();
  });

  it('have one probe’s connection to each server, and no more than one pool’s for statements', async () => {
    const clients = Array.from({ length: 10 }, () => make({ consistency: 'eventual' }));
    await Promise.all(clients.map((db) => rwSplit(db).checkNow()));
    expect(await sessions()).toEqual({ primary: 1, 'replica-1': 1, 'replica-2': 1 });

    const end = new AbortController();
    const most = { ...nobody };
    const watch = (async () => {
      while (!end.signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop -- one look after the other.
        for (const [name, count] of Object.entries(await sessions())) {
          most[name as keyof typeof most] = Math.max(most[name as keyof typeof most], count);
        }
      }
    })();
    await Promise.all(
      clients.flatMap((db, index) =>
        Array.from({ length: 10 }, async () => {
          await db.select(db.raw('pg_sleep(0.01)'));
          await db('hits').insert({ name: `${index}` });
        }),
      ),
    );
    end.abort();
    await watch;

    for (const count of Object.values(most)) expect(count).toBeLessThanOrEqual(6);
    expect(most.primary).toBeGreaterThan(2);
    const counts = await make().from('hits').count().first();
    expect(counts).toEqual({ count: '100' });
  });

  it('go on when the one that opened the pools is destroyed', async () => {
    const [first, second] = [make(), make()];
    await openAll(first);
    const opened = await sessions();

    await first.destroy();

    expect(await sessions()).toEqual(opened);
    const third = make();
    expect([first, second, third].map(({ client }) => client.version)).toEqual(
      Array.from({ length: 3 }, () => expect.stringMatching(/^\d+/)),
    );
    // New connections, too: more than there were.
    const sleeps = Array.from({ length: 4 }, () =>
      second.raw('select pg_sleep(0.05)').queryContext({ rwSplit: { host: 'replica-1' } }),
    );
    await Promise.all(sleeps);
    expect((await sessions())['replica-1']).toBe(5);
    await expect(first.raw('select 1')).rejects.toThrow(destroyed);
    await Promise.all([second, third].map((db) => db.destroy()));
    await eventually(async () => expect(await sessions()).toEqual(nobody));
  });

  it('are in again after initialize(), which opens the pools where nobody has them', async () => {
    const [first, second] = [make(), make()];
    await openAll(first);

    await Promise.all([first.destroy(), first.destroy()]);
    await first.destroy();
    first.initialize();
    await second.destroy();

    expect(await serverOf(first)).toMatch(/^replica/);
    await first.destroy();
    await eventually(async () => expect(await sessions()).toEqual(nobody));
    second.initialize();
    expect(await serverOf(second)).toMatch(/^replica/);
  });

  it('wait in destroy() for their own statements, and not for those of others', async () => {
    const [one, other] = [make(), make()];
    await openAll(one);
    const long = await keepBusy(other, 2.5);
    const short = await keepBusy(one, 0.3);
    let isDone = false;
    const noted = short.ended.then(() => (isDone = true));

    const begun = performance.now();
    await one.destroy();

    expect(performance.now() - begun).toBeLessThan(1500);
    expect(isDone).toBe(true);
    await noted;
    expect(usedConnections(other).join()).toContain('1 used');
    expect(await long.ended).toMatchObject([{ status: 'fulfilled' }]);
  });

  it('leave nobody waiting in the pool after destroy()', async () => {
    const [one, other] = [make(), make()];
    await openAll(one);
    const long = await keepBusy(other, 1, 5);
    const pending = (): unknown => rwSplit(other).hosts()[0]?.pool.pending;
    const waiting = Promise.allSettled([1, 2, 3].map(async () => onPrimary(one.raw('select 1'))));
    await eventually(() => expect(pending()).toBe(3), { everyMillis: 5 });

    await one.destroy();
    await waiting;

    expect(pending()).toBe(0);
    await long.ended;
  });

  it('give up in destroy() what has its time, and leave the pool as it was', async () => {
    const config = { acquireConnectionTimeout: 1000 };
    const pools = 'short of time';
    const [one, other] = [make({ pools }, config), make({ pools }, config)];
    await openAll(one);
    const long = await keepBusy(one, 5);
    const taken: unknown = await one.client.pool.acquire().promise;

    await one.destroy();

    expect(taken).toBeDefined();
    expect(await long.ended).toMatchObject([{ status: 'rejected' }]);
    expect(usedConnections(other)).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => other('t').insert({ id: 1 })));
  });

  it('let many wait without a word', async () => {
    const config = {
      connection: cluster().connection(),
      pool: { min: 0, max: 1 },
      rwSplit: { pools: 'shared', replicas: [] },
    };

    const ended = await runProgram(`
      const { RWSplitClient } = library();
      const make = () => knex({ client: RWSplitClient, ...${JSON.stringify(config)} });
      const [one, other] = [make(), make()];
      const queries = [...Array(40)].map(() => one.raw('select pg_sleep(0.01)'));
      print((await Promise.all(queries)).length);
      await Promise.all([one.destroy(), other.destroy()]);
    `);

    expect(ended).toEqual({ exitCode: 0, printed: 40, stderr: '' });
  });

  it('turn away at once what waits for a connection as they are destroyed', async () => {
    const [one, other] = [make(), make()];
    await openAll(one);
    const held = await keepBusy(other, 1.5, 5);
    const waiting = Promise.allSettled([
      one('t').insert({ id: 1 }),
      one.client.pool.acquire().promise,
    ]);

    const begun = performance.now();
    await one.destroy();
    expect(await waiting).toMatchObject([
      { reason: { message: destroyed } },
      { reason: { message: 'aborted' } },
    ]);

    expect(performance.now() - begun).toBeLessThan(1000);
    await held.ended;
    await eventually(() => usedConnections(other).length === 0);
  });

  it('come and go while others work', async () => {
    const steady = make();
    const end = new AbortController();
    const load = Promise.all(
      Array.from({ length: 3 }, async () => {
        // oxlint-disable-next-line no-await-in-loop -- one after the other.
        while (!end.signal.aborted) await steady('t').insert({ id: 1 });
      }),
    );
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let turn = 0; turn < amount(6); turn++) {
          const db = make();
          const queries = Promise.allSettled([db('t').limit(1), db('t').insert({ id: 2 })]);
          // oxlint-disable-next-line no-await-in-loop -- one after the other.
          if (turn % 2 === 0) await queries;
          // oxlint-disable-next-line no-await-in-loop -- as above.
          await Promise.all([db.destroy(), queries]);
        }
      }),
    );
    end.abort();
    await load;
    await eventually(() => usedConnections(steady).length === 0);
    await steady.destroy();
    await eventually(async () => expect(await sessions()).toEqual(nobody));
  });

  it('begin and end by themselves in any order', async () => {
    for (let turn = 0; turn < amount(5); turn++) {
      const [one, two] = [make(), make()];
      const queries = [one('t').limit(1), two('t').limit(1)].map((query) =>
        query.catch((error: Error) => error.message),
      );
      const ends = [one.destroy()];
      const third = make();
      ends.push(two.destroy());
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      expect(await third('t').where({ id: -1 })).toEqual([]);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      await Promise.all([...queries, ...ends, third.destroy()]);
    }
    await eventually(async () => expect(await sessions()).toEqual(nobody));
  });

  it('route each in their own way', async () => {
    const [split, primary, strong, replica] = [
      make({ consistency: 'eventual', balancer: 'in-order' }),
      make({ target: 'primary' }),
      make({ consistency: 'strong' }),
      make({ target: 'replica', consistency: 'eventual' }),
    ];
    const routes: string[] = [];
    rwSplit(primary).on('route', ({ host }) => routes.push(host));
    await openAll(primary);
    routes.splice(0);

    expect(await serverOf(split)).toBe('replica-1');
    expect(await serverOf(strong)).toBe('primary');
    expect(await serverOf(replica)).toMatch(/^replica/);
    expect(routes).toEqual([]);
    expect(await serverOf(primary)).toBe('primary');
    expect(routes).toHaveLength(1);
    await expect(replica('t').insert({ id: 1 })).rejects.toMatchObject({ code: '25006' });
  });

  it('have sessions of their own, of which each sees what it wrote', async () => {
    const [one, other] = [make(), make()];
    await openAll(one);

    await one('t').insert({ id: 77 });

    expect(await one('t').where({ id: 77 })).toHaveLength(1);
    expect(rwSplit(one).token()).toBeDefined();
    expect(rwSplit(other).token()).toBeUndefined();
  });

  it.each(hostNames)('never see a session state of each other on %s', async (host) => {
    const [stated, plain] = [make(undefined, undefined), make()];
    const at = { rwSplit: { host: host === 'primary' ? undefined : host } };
    const setting = (db: Knex): Knex.Raw =>
      db
        .raw("select coalesce(current_setting('app.tenant', true), '') as tenant")
        .queryContext(host === 'primary' ? { rwSplit: { target: 'primary' } } : at);
    await openAll(plain);
    await setting(plain);

    const wrong: unknown[] = [];
    const turn = async (index: number): Promise<void> => {
      const tenant = index % 3 === 0 ? '' : `t${index % 7}`;
      const db =
        tenant === '' ? plain : rwSplit(stated).withState({ settings: { 'app.tenant': tenant } });
      const { rows } = await setting(db);
      if (rows[0].tenant !== tenant) wrong.push([tenant, rows[0].tenant]);
    };
    for (let round = 0; round < 10; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one round after the other.
      await Promise.all(Array.from({ length: 20 }, (_, index) => turn(index)));
    }
    // One that comes later finds the same connections.
    const late = make();
    const { rows } = await setting(late);

    expect(wrong).toEqual([]);
    expect(rows).toEqual([{ tenant: '' }]);
  });

  it('don’t hand each other a session that raw text has changed', async () => {
    const [one, other] = [make(), make()];
    await one.raw("set app.raw = 'one'");
    const taken: object = await one.client.acquireConnection();
    await other.raw("set app.raw = 'other'").connection(taken);
    await one.client.releaseConnection(taken);

    const values = await Promise.all(
      Array.from({ length: 5 }, () =>
        other
          .raw("select pg_sleep(0.02), current_setting('app.raw', true) as raw")
          .queryContext({ rwSplit: { target: 'primary' } }),
      ),
    );

    expect(values.flatMap(({ rows }) => rows.map(({ raw }: { raw: unknown }) => raw))).toEqual(
      Array.from({ length: 5 }, () => null),
    );
  });

  it('give back for each other what was taken by hand, once', async () => {
    const [one, other] = [make(), make()];
    const leased: object = await one.client.acquireConnection();
    const acquired: object = await one.client.pool.acquire().promise;
    expect(usedConnections(other)).toEqual([expect.stringContaining('2 used')]);
    const answer = await other.raw('select 1 as one').connection(leased);
    expect(answer.rows).toEqual([{ one: 1 }]);

    await other.client.releaseConnection(leased);
    expect(other.client.pool.release(acquired)).toBe(true);
    await one.client.releaseConnection(leased);
    expect(one.client.pool.release(acquired)).toBe(false);

    expect(usedConnections(other)).toEqual([]);
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? one : other)('t').insert({ id: 3 })),
    );
    expect(usedConnections(one)).toEqual([]);
  });

  it('take back from each other what the one that took it waits for in destroy()', async () => {
    const [one, other] = [make(), make()];
    const taken: unknown = await one.client.acquireConnection();

    const ending = one.destroy();
    await other.client.releaseConnection(taken);
    await ending;

    expect(usedConnections(other)).toEqual([]);
  });

  it('lose no connection and no state, whatever they do in which order', async () => {
    const random = seededRandom(7);
    const config: Knex.Config = { pool: { min: 0, max: 2 }, acquireConnectionTimeout: 20_000 };
    const start = (): Knex => make({ pools: 'whatever', consistency: 'eventual' }, config);
    const steady = start();
    const wrong: unknown[] = [];
    const expected = [destroyed, 'aborted', 'rolled back on purpose'];

    const see = async (db: Knex, tenant: string): Promise<void> => {
      const { rows } = await db.raw("select coalesce(current_setting('app.t', true), '') as t");
      if (rows[0].t !== tenant) wrong.push([tenant, rows[0].t]);
    };
    const deeds: ((db: Knex) => Promise<unknown>)[] = [
      (db) => see(db, ''),
      (db) => see(rwSplit(db).withState({ settings: { 'app.t': 'a' } }), 'a'),
      (db) => see(rwSplit(db).withState({ settings: { 'app.t': 'b' } }), 'b'),
      (db) => onPrimary(db.raw("set app.t = 'raw'")),
      (db) =>
        rwSplit(db)
          .withState({ settings: { 'app.t': 'c' } })
          .transaction((trx) => see(trx, 'c')),
      (db) =>
        db.transaction(async (trx) => {
          await trx.raw("set app.t = 'rolled back'");
          throw new Error('rolled back on purpose');
        }),
      (db) => db.raw('select pg_sleep(0.2)').timeout(random() < 0.5 ? 1 : 1000, { cancel: true }),
      async (db) => {
        for await (const row of db.raw('select 1 as one').stream()) expect(row).toEqual({ one: 1 });
      },
      async (db) => {
        const connection: unknown = await db.client.acquireConnection();
        await steady.client.releaseConnection(connection);
      },
      async (db) => {
        const connection: unknown = await db.client.pool.acquire().promise;
        steady.client.pool.release(connection);
      },
    ];
    const live = async (): Promise<void> => {
      for (let life = 0; life < amount(4); life++) {
        const db = start();
        const results = Array.from({ length: 8 }, async () => {
          const deed = deeds[Math.floor(random() * deeds.length)];
          await deed?.(db).catch((error: Error) => {
            const isExpected = expected.some((text) => error.message.includes(text));
            if (!isExpected && error.name !== 'KnexTimeoutError') wrong.push(error);
          });
        });
        // oxlint-disable-next-line no-await-in-loop -- one life after the other.
        if (random() < 0.5) await Promise.all(results);
        // oxlint-disable-next-line no-await-in-loop -- as above.
        await Promise.all([db.destroy(), ...results]);
      }
    };
    await Promise.all(Array.from({ length: 5 }, live));

    await eventually(() => usedConnections(steady).length === 0);
    await Promise.all(Array.from({ length: 20 }, () => see(steady, '')));
    expect(wrong).toEqual([]);
    await steady.destroy();
    await eventually(async () => expect(await sessions()).toEqual(nobody));
  });

  it('hear of their hosts each, and no more once they are destroyed', async () => {
    const [one, other] = [make(), make()];
    const heard: string[] = [];
    for (const [name, db] of Object.entries({ one, other })) {
      rwSplit(db).on('host:up', ({ host }) => heard.push(`${name}: ${host} up`));
      db.client.pool.on('release', () => heard.push(`${name}: release`));
    }
    await rwSplit(one).checkNow();
    expect(heard.splice(0).toSorted()).toEqual(
      ['one', 'other'].flatMap((name) =>
        rwSplit(one)
          .hosts()
          .map(({ name: host }) => `${name}: ${host} up`)
          .toSorted(),
      ),
    );

    await one('t').insert({ id: 4 });
    expect(new Set(heard.splice(0))).toEqual(new Set(['one: release', 'other: release']));
    await one.destroy();
    await other('t').insert({ id: 4 });
    expect(new Set(heard)).toEqual(new Set(['other: release']));
  });

  it('drain and readmit hosts for all', async () => {
    const [one, other] = [make(), make()];
    await openAll(one);

    expect(await rwSplit(one).drain('replica-1')).toBe(true);
    const states = rwSplit(other).hosts();
    rwSplit(other).readmit('replica-1');

    expect(states.map(({ state }) => state)).toEqual(['up', 'draining', 'up']);
    expect(rwSplit(one).hosts()[1]?.state).toBe('up');
  });

  it('hold together no more of the primary than one would, where no replica serves', async () => {
    const config: Knex.Config = { pool: { min: 0, max: 4 } };
    const pools = 'without replicas';
    const clients = [1, 2, 3].map(() => make({ pools, consistency: 'eventual' }, config));
    const [one] = clients as [Knex];
    await openAll(one);
    await Promise.all(['replica-1', 'replica-2'].map((host) => rwSplit(one).drain(host)));

    const used: number[] = [];
    const reads = clients.flatMap((db) =>
      Array.from({ length: 5 }, async () => {
        await db.select(db.raw('pg_sleep(0.02)'));
        used.push(rwSplit(db).hosts()[0]?.pool.used ?? 0);
      }),
    );
    await Promise.all(reads);

    expect(Math.max(...used)).toBe(2);
  });

  it('are those of a registry with the same hosts; it keeps others apart', async () => {
    const pools = new PoolRegistry('tests');
    const [one, same] = [make({ pools }), make({ pools })];
    const connection = { ...cluster().connection() };
    const stranger = make({ pools }, { connection });
    const [apart, named] = [make({ pools: new PoolRegistry() }), make()];
    await Promise.all([one, same, stranger, apart, named].map((db) => rwSplit(db).checkNow()));

    const { 'replica-1': count } = await sessions();

    expect(count).toBe(3);
    expect(await serverOf(stranger)).toMatch(/^replica/);
  });

  it('share a server’s budget with the other pools of their registry', async () => {
    const pools = new PoolRegistry();
    const rwSplit = { pools, maxPerServer: 4, replicas: [] };
    const connection = { ...cluster().connection(), application_name: 'budget of a registry' };
    const clients = ['shared', 'shared', 'postgres', 'postgres'].map((database) =>
      make(rwSplit, {
        connection: database === 'postgres' ? { ...connection, database } : connection,
      }),
    );

    const end = new AbortController();
    const seen: number[] = [];
    const watch = (async () => {
      while (!end.signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop -- one look after the other.
        const [row] = await cluster().primary.query<{ count: number }>(
          "select count(*)::int from pg_stat_activity where application_name = 'budget of a registry'",
        );
        seen.push(row?.count ?? 0);
      }
    })();
    await Promise.all(
      clients.flatMap((db) =>
        Array.from({ length: 8 }, () => onPrimary(db.raw('select pg_sleep(0.02)'))),
      ),
    );
    end.abort();
    await watch;

    expect(Math.max(...seen)).toBeLessThanOrEqual(4);
    expect(() => make({ pools, maxPerServer: 5 }, { connection })).toThrow('maxPerServer');
  });
});

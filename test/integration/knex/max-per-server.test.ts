import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { serverBudgets } from '../../../lib/hosts/server-budgets.ts';
import { eventually } from '../../support/eventually.ts';
import { amount } from '../../support/long.ts';
import { machineMillis } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { watchSessions } from '../../support/session-watch.ts';

const max = 20;
const databases = Array.from({ length: 30 }, (_, index) => `db_${index}`);
const quiet: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} };

describe('Many databases on one server with maxPerServer', () => {
  const cluster = useOwnCluster({ replicas: 0 });
  const made = new Set<Knex>();

  beforeAll(async () => {
    await cluster().primary.query("create role tenant login password 'tenant'");
    for (const name of databases) {
      // oxlint-disable-next-line no-await-in-loop -- a template serves one at a time.
      await cluster().primary.query(`create database ${name} strategy file_copy`);
    }
  });

  // The server itself refuses one connection too many.
  const limit = async (count: number): Promise<void> => {
    await cluster().primary.query(`alter role tenant connection limit ${count}`);
  };

  beforeEach(async () => limit(max));

  afterEach(async () => {
    await Promise.all([...made].map((db) => db.destroy()));
    made.clear();
    await eventually(async () => (await sessions()) === 0);
    await eventually(() => serverBudgets(undefined).size === 0);
  });

  const open = (database: string, config: Knex.Config = {}): Knex => {
    const db = knex({
      client: RWSplitClient,
      connection: { ...cluster().connection(), user: 'tenant', password: 'tenant', database },
      log: quiet,
      acquireConnectionTimeout: 20_000,
      ...config,
      pool: { min: 0, max: 10, ...config.pool },
      rwSplit: { replicas: [], maxPerServer: max, consistency: 'eventual', ...config.rwSplit },
    });
    made.add(db);
    return db;
  };

  const sessions = async (): Promise<number> => {
    const [row] = await cluster().primary.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where usename = 'tenant'",
    );
    return row?.count ?? -1;
  };

  const budgetOf = (db: Knex): unknown => rwSplit(db).hosts()[0]?.budget;

  it('shares them out as the load shifts, and starves none', async () => {
    const clients = databases.map((name) => open(name));
    const watching = await watchSessions(cluster(), 'tenant');
    const counts = new Map<string, number>();
    const waits = new Map<string, number>();
    const query = async (name: string, db: Knex): Promise<void> => {
      const begin = performance.now();
      await db.raw('select pg_sleep(0.002)');
      counts.set(name, (counts.get(name) ?? 0) + 1);
      waits.set(name, Math.max(waits.get(name) ?? 0, performance.now() - begin));
    };
    const work = async (name: string, until: number, pause?: number): Promise<void> => {
      const db = clients[databases.indexOf(name)] as Knex;
      while (performance.now() < until) {
        // oxlint-disable-next-line no-await-in-loop -- one query after the other.
        await query(name, db);
        // oxlint-disable-next-line no-await-in-loop -- as above.
        if (pause !== undefined) await sleep(pause);
      }
    };

    // One of them asks now and then, beside 19 that are busy.
    for (const first of [0, 5, 10]) {
      const until = performance.now() + amount(1000);
      const busy = databases.slice(first, first + 19);
      // oxlint-disable-next-line no-await-in-loop -- one phase after the other.
      await Promise.all([
        work('db_29', until, 100),
        ...busy.flatMap((name) => [work(name, until), work(name, until)]),
      ]);
    }
    const last = await cluster().primary.query<{ name: string }>(
      "select distinct datname as name from pg_stat_activity where usename = 'tenant'",
    );
    const seen = await watching();

    expect(seen.most).toBeLessThanOrEqual(max);
    expect(seen.most).toBeGreaterThan(max / 2);
    expect(seen.probes).toBe(1);
    // Every one was served, nobody waited for long, and those whose time was over made room.
    expect([...counts.keys()].toSorted()).toEqual([...databases.slice(0, 29), 'db_29'].toSorted());
    expect(Math.max(...waits.values())).toBeLessThan(3000 + machineMillis);
    expect(last.filter(({ name }) => databases.indexOf(name) < 5)).toEqual([]);
  });

  it('says that the budget is used up where that is so, and thinks no worse of the host', async () => {
    const rwSplitOptions = { maxPerServer: 3 };
    const one = open('db_0', { rwSplit: rwSplitOptions });
    const other = open('db_1', { rwSplit: rwSplitOptions, acquireConnectionTimeout: 300 });
    await rwSplit(other).checkNow();
    const held = await Promise.all([one.transaction(), one.transaction()]);

    const waiting = other.raw('select 1').then(
      () => undefined,
      (error: unknown) => error,
    );
    await eventually(() => expect(budgetOf(one)).toEqual({ max: 3, used: 3, waiting: 1 }));
    const error = await waiting;

    expect(error).toBeInstanceOf(knex.KnexTimeoutError);
    expect(String(error)).toMatch(
      /Timeout acquiring a connection: .* rwSplit\.maxPerServer is 3, one of them the probe's \(db_0\/tenant: 2\)/,
    );
    expect(String(error)).not.toMatch(/probably full|unreachable/);
    expect(rwSplit(other).hosts()[0]).toMatchObject({
      state: 'up',
      lastError: undefined,
      budget: { max: 3, used: 3, waiting: 0 },
    });
    const later = other.raw('select 1');
    await Promise.all(held.map((trx) => trx.rollback()));
    await later;
  });

  it('gives no place away that a statement still has which was given up', async () => {
    await limit(2);
    const db = open('db_0', { rwSplit: { maxPerServer: 2 } });
    await rwSplit(db).checkNow();

    const late = db.raw('select pg_sleep(20)').timeout(100);
    await expect(late).rejects.toThrow('Defined query timeout of 100ms exceeded');
    await db.raw('select 1');

    const running = await cluster().primary.query(
      "select from pg_stat_activity where usename = 'tenant' and query like '%pg_sleep(20)%'",
    );
    expect(running).toEqual([]);
  });

  it.each([
    ['the last client of its pools', false],
    ['one of several clients', true],
  ])('gives no place away while a statement runs of %s that is destroyed', async (_, isShared) => {
    await limit(2);
    const rwSplitOptions = { maxPerServer: 2, pools: 'ended' };
    const config = { rwSplit: rwSplitOptions, acquireConnectionTimeout: 300 };
    const db = open('db_0', config);
    if (isShared) open('db_0', config);
    const other = open('db_1', { rwSplit: { maxPerServer: 2 } });
    await rwSplit(db).checkNow();
    const late = db.raw('select pg_sleep(20)').catch((error: unknown) => error);
    const running = async (): Promise<number> => {
      const rows = await cluster().primary.query(
        "select from pg_stat_activity where usename = 'tenant' and query = 'select pg_sleep(20)'",
      );
      return rows.length;
    };
    await eventually(async () => (await running()) === 1);

    await db.destroy();
    await other.raw('select 1');

    expect(await late).toMatchObject({ code: 'ECONNABORTED' });
    expect(await running()).toBe(0);
  });

  it('has nothing of it without the option', async () => {
    const db = open('db_0', { rwSplit: { maxPerServer: undefined } });

    await db.raw('select 1');

    expect(budgetOf(db)).toBeUndefined();
  });

  it('refuses another number for the same server before anything opens', async () => {
    const db = open('db_0', { rwSplit: { maxPerServer: 5 } });

    expect(() => open('db_1', { rwSplit: { maxPerServer: 6 } })).toThrow(
      expect.objectContaining({ code: 'RWSPLIT_CONFIG', path: 'rwSplit.maxPerServer' }),
    );
    await db.destroy();
    open('db_1', { rwSplit: { maxPerServer: 6 } });

    expect(await sessions()).toBe(0);
  });

  it('notices a client whose password is wrong, and probes for the others', async () => {
    const rwSplitOptions = { maxPerServer: 3, health: { intervalMillis: 100 } };
    const connection = { ...cluster().connection(), user: 'tenant', database: 'db_0' };
    const wrong = open('db_0', {
      rwSplit: rwSplitOptions,
      connection: { ...connection, password: 'wrong' },
    });
    const right = open('db_1', { rwSplit: rwSplitOptions });

    const refusal = await wrong.raw('select 1').catch((error: unknown) => error);
    await right.raw('select 1');

    expect(refusal).toMatchObject({ code: '28P01' });
    await eventually(() => expect(rwSplit(right).hosts()[0]?.state).toBe('up'));
    expect(await wrong.raw('select 1').catch((error: unknown) => error)).toMatchObject({
      code: '28P01',
    });
  });

  it('loses no place, whatever becomes of connections, queries, clients and the server', async () => {
    const places = 8;
    await limit(places);
    const random = seededRandom(4);
    const config = {
      acquireConnectionTimeout: 400,
      rwSplit: { maxPerServer: places, health: { intervalMillis: 200 } },
    };
    const clients = databases.slice(0, 12).map((name) => open(name, config));
    const watching = await watchSessions(cluster(), 'tenant');
    const errors = new Map<string, number>();
    const turn = async (): Promise<void> => {
      const at = Math.floor(random() * clients.length);
      const db = clients[at] as Knex;
      const dice = random();
      if (dice < 0.4) await db.raw('select 1');
      else if (dice < 0.6) await db.transaction(async (trx) => trx.raw('select pg_sleep(0.01)'));
      else if (dice < 0.75) await db.raw('select pg_sleep(1)').timeout(20);
      else if (dice < 0.85) await db.raw('select pg_sleep(1)').timeout(20, { cancel: true });
      else if (dice < 0.95) {
        await cluster().primary.query(
          "select pg_terminate_backend(pid) from (select pid from pg_stat_activity where usename = 'tenant' order by random() limit 1) as one",
        );
      } else {
        clients[at] = open(databases[at] ?? '', config);
        made.delete(db);
        await db.destroy();
      }
    };
    const worker = async (until: number): Promise<void> => {
      while (performance.now() < until) {
        try {
          // oxlint-disable-next-line no-await-in-loop -- one turn after the other.
          await turn();
        } catch (error) {
          const { code, name } = error as { code?: string; name: string };
          errors.set(code ?? name, (errors.get(code ?? name) ?? 0) + 1);
        }
      }
    };

    const until = performance.now() + amount(2500);
    await Promise.all(Array.from({ length: 24 }, async () => worker(until)));
    const seen = await watching();
    expect(seen.most).toBeLessThanOrEqual(places);
    expect(errors.get('53300')).toBeUndefined();

    await cluster().primary.stop();
    await Promise.all(clients.map((db) => db.raw('select 1').catch(() => undefined)));
    await cluster().primary.start();
    await eventually(async () => Promise.all(clients.map((db) => db.raw('select 1'))), {
      withinMillis: 15_000,
    });
    await eventually(async () => {
      const count = await sessions();
      expect(budgetOf(clients[0] as Knex)).toEqual({ max: places, used: count, waiting: 0 });
    });
  });
});

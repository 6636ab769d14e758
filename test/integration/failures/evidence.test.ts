import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import { type HostSnapshot, rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { launchCluster } from '../../../lib/testing/launch-cluster.ts';
import { awaitHost } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { inLong, isLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { usePlainClients } from '../../support/plain-clients.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { setSettings } from '../../support/set-settings.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

const health = {
  intervalMillis: 100,
  timeoutMillis: 300,
  hangMillis: 600,
  slowStartMillis: 200,
  backoffMaxMillis: 500,
};
const read = 'select served_by() as host';
const slowRead = "select pg_sleep(0.6), served_by() as host, 'evidence' as kind";

interface Failed extends Error {
  readonly code?: string;
  readonly severity?: string;
  readonly rwSplit?: { readonly outcome?: string; readonly attempts: readonly unknown[] };
}

describe('What a real server says', () => {
  const cluster = useOwnCluster({
    replicas: 2,
    maxConnections: 20,
    settings: { max_standby_streaming_delay: '0' },
  });
  const { cold, warm } = useSplit(cluster, 'eventual');
  const open = usePlainClients();

  beforeAll(async () => {
    await createRoutingSchema(
      cluster(),
      `create function writes() returns void language sql as 'update notes set rank = rank';
       create function fails(code text) returns int volatile language plpgsql as $$
         begin raise exception 'as asked' using errcode = code; end $$;
       create function reads_wrongly() returns text stable language plpgsql as $$
         begin perform writes(); return served_by(); end $$;`,
    );
  });

  afterEach(async () => {
    await healCluster(cluster());
  });

  const replica = (): TestHost => cluster().replicas[0] as TestHost;

  /** Reads go to the first replica, as long as it may serve. */
  const make = (more: object = {}): Knex.Config => ({
    acquireConnectionTimeout: 5000,
    rwSplit: { replicas: replicasOf(cluster()), balancer: 'in-order', health, ...more },
  });
  const started = async (more?: object): Promise<Knex> => {
    const { db } = await warm(make(more));
    // The names in the text are known from here on.
    await db.raw(slowRead.replace('0.6', '0'));
    return db;
  };
  const whoReads = async (db: Knex): Promise<string> => (await db.raw(read)).rows[0].host;
  const errorOf = async (query: PromiseLike<unknown>): Promise<Failed> => {
    try {
      await query;
    } catch (error) {
      return error as Failed;
    }
    throw new Error('There was no error.');
  };
  const states = (db: Knex): string[] =>
    rwSplit(db)
      .hosts()
      .map(({ state }) => state);
  const first = (db: Knex): HostSnapshot => rwSplit(db).hosts()[1] as HostSnapshot;

  const endSessions = async (host: TestHost, what: string): Promise<void> => {
    await host.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend' and ${what}`,
    );
  };
  /** Takes every connection that a server has. */
  const takeAll = async (host: TestHost): Promise<Client[]> => {
    const opening = Array.from({ length: 24 }, () => open(host));
    const settled = await Promise.allSettled(opening);
    expect(settled.some(({ status }) => status === 'rejected')).toBe(true);
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  };
  const isSleeping = async (host: TestHost): Promise<boolean> =>
    (await host.query("select from pg_stat_activity where wait_event = 'PgSleep'")).length > 0;

  describe('to a read, which another host then serves', () => {
    it.each<[string, () => Promise<void> | void]>([
      ['57P01, its session is terminated', () => endSessions(replica(), "state = 'active'")],
      ['57P01, it shuts down', () => replica().stop()],
      ['nothing, it hangs', () => replica().hang()],
      ...inLong<[string, () => Promise<void>]>(['no more, it was killed', () => replica().kill()]),
    ])('%s', async (_, happens) => {
      const db = await started();
      const reading = db.raw(slowRead).then(({ rows }) => rows[0].host);
      await eventually(() => isSleeping(replica()));

      await happens();

      expect(await reading).toBe('replica-2');
      expect(states(db).toSpliced(1, 1)).toEqual(['up', 'up']);
    });

    it('40001, it is in the way of the replay: the host stays up', async () => {
      await cluster().primary.query('insert into notes (rank) select 1 from generate_series(1, 9)');
      await cluster().waitForReplay();
      const db = await started();
      const reading = db
        .raw(`select count(*), ${slowRead.slice('select '.length)} from notes`)
        .then(({ rows }) => rows[0].host);
      await eventually(() => isSleeping(replica()));

      await cluster().primary.query('update notes set rank = 2');
      await cluster().primary.query('vacuum notes');

      expect(await reading).toBeDefined();
      expect(first(db).state).toBe('up');
    });

    it('42P01, it has not replayed the table yet', async () => {
      const db = await started({ maxLag: false });
      await Promise.all(cluster().replicas.map((host) => host.pauseReplay()));
      await cluster().primary.query('create table if not exists late (id int)');

      const { rows } = await db.raw('select served_by() as host, count(*) from late');

      expect(rows).toMatchObject([{ host: 'primary' }]);
      expect(states(db)).toEqual(['up', 'up', 'up']);
    });

    it('25006, it changes something after all: the primary runs it', async () => {
      const db = await started();
      const refused: unknown[] = [];
      rwSplit(db).on('misroute', ({ host, error }) => refused.push([host, error]));

      const { rows } = await db.raw('select reads_wrongly() as host');

      expect(rows).toEqual([{ host: 'primary' }]);
      expect(refused).toMatchObject([['replica-1', { code: '25006' }]]);
      expect(states(db)).toEqual(['up', 'up', 'up']);
    });

    it('53300, it has no connection left: it is not down, and is not besieged', async () => {
      await takeAll(replica());
      const begin = performance.now();
      const { db } = cold(make());
      // The first one looks up what its function is; what takes long goes to the primary.
      await eventually(async () => (await whoReads(db)) !== 'primary');

      const reads = await Promise.all(Array.from({ length: 20 }, () => whoReads(db)));
      await rwSplit(db).checkNow();
      const seconds = (performance.now() - begin) / 1000;

      expect(new Set(reads)).toEqual(new Set(['replica-2']));
      expect(first(db).state).toBe('up');
      // At most its pool's worth of connections is tried each second.
      expect(first(db).served.connectErrors).toBeLessThanOrEqual(5 * (seconds + 1));
    });
  });

  describe('to whoever connects', () => {
    it.each<[string, object, RegExp]>([
      ['a wrong password', { password: 'wrong' }, /password authentication failed/],
      ['a missing database', { database: 'missing' }, /database "missing" does not exist/],
      ['an unknown name', { host: 'replica.invalid' }, /ENOTFOUND|EAI_AGAIN/],
      ['nobody there', { port: 1 }, /ECONNREFUSED/],
    ])('%s: the others serve, and it is down', async (_, wrong, expected) => {
      const [one, other] = replicasOf(cluster());
      const { db } = cold(make({ replicas: [{ ...one, ...wrong }, other] }));

      const reads = await Promise.all(Array.from({ length: 8 }, () => whoReads(db)));

      expect(new Set(reads)).toEqual(new Set(['replica-2']));
      const down = await awaitHost(db, 'replica-1', ({ state }) => state === 'down');
      expect(down.reason).toMatch(expected);
      expect(down.lastError).toMatch(expected);
      expect(JSON.stringify(down)).not.toContain('wrong"');
      expect(await db('notes').insert({ rank: 1 })).toBeDefined();
    });

    it('57P03, it starts: nobody notices', async () => {
      const db = await started();
      await replica().kill();
      const starting = replica().start();

      const reads: string[] = [];
      const noteStart = starting.then(() => 'started');
      while ((await Promise.race([noteStart, sleep(5, 'starting')])) === 'starting') {
        reads.push(await whoReads(db));
      }

      expect(reads).not.toContain('primary');
      await awaitHost(db, 'replica-1', ({ state }) => state === 'up', 10_000);
    });

    // In every run, those of another cluster are tested in strangers.test.ts.
    if (isLong) {
      it('another system identifier: it gets nothing', async () => {
        const foreign = await launchCluster({ replicas: 0 });
        try {
          const { host, port } = foreign.primary;
          const [, other] = replicasOf(cluster());
          const replicas = [{ name: 'foreign', host, port }, other];
          const { db } = cold(make({ replicas }));

          expect(await whoReads(db)).toBe('replica-2');
          await rwSplit(db).checkNow();

          expect(rwSplit(db).hosts()[1]).toMatchObject({ reason: /another cluster/ });
        } finally {
          await foreign.stop();
        }
      });
    }
  });

  describe('to a statement of its own, and of no host', () => {
    it.each<[string, string, (db: Knex) => PromiseLike<unknown>]>([
      [
        '57014',
        'a statement timeout',
        (db) =>
          db.transaction((trx) =>
            trx.raw('set local statement_timeout = 20').then(() => trx.raw('select pg_sleep(2)')),
          ),
      ],
      ['23505', 'a constraint', (db) => db('notes').insert([{ body: 'same' }, { body: 'same' }])],
      ['42601', 'a mistake', (db) => db.raw('select 1 as one from from')],
      ['53200', 'no memory', (db) => db.raw("select fails('53200')")],
      ['40001', 'a conflict on the primary', (db) => db.raw("select fails('40001')")],
      ...inLong<[string, string, (db: Knex) => PromiseLike<unknown>]>(
        ['22012', 'bad data', (db) => db.raw('select 1 / 0')],
        ['P0001', 'a refusal', (db) => db.raw("select fails('P0001')")],
        ['53100', 'a full disk', (db) => db.raw("select fails('53100')")],
        ['XX000', 'an error of its own', (db) => db.raw("select fails('XX000')")],
      ),
      [
        '55P03',
        'a lock that is not free',
        async (db) => {
          const holder = await open(cluster().primary);
          await holder.query('begin; lock table notes');
          return db.transaction(async (trx) => {
            await trx.raw('set local lock_timeout = 20');
            await trx('notes').insert({ rank: 1 });
          });
        },
      ],
    ])('%s, %s', async (code, _, run) => {
      const db = await started();
      const retries: unknown[] = [];
      rwSplit(db).on('retry', (event) => retries.push(event));

      const error = await errorOf(run(db));

      expect(error).toMatchObject({ code, severity: 'ERROR' });
      expect(error.rwSplit?.attempts).toHaveLength(1);
      expect(error.rwSplit).not.toHaveProperty('outcome');
      expect(retries).toEqual([]);
      expect(states(db)).toEqual(['up', 'up', 'up']);
    });
  });

  describe('to a write', () => {
    const slowWrite = 'insert into notes (rank) select 1 from pg_sleep(2)';

    it.each<[string, object, () => Promise<void> | void]>([
      [
        '57P01, its session is terminated',
        { code: '57P01' },
        () => endSessions(cluster().primary, "wait_event = 'PgSleep'"),
      ],
      ['no more, it hangs', { code: 'ETIMEDOUT' }, () => cluster().primary.hang()],
      ['no more, it was killed', {}, () => cluster().primary.kill()],
    ])('%s: nobody knows what became of it', async (_, fields, happens) => {
      const db = await started({ failover: { waitMillis: 500 } });
      const writing = errorOf(db.raw(slowWrite));
      await eventually(() => isSleeping(cluster().primary));

      await happens();
      const error = await writing;

      expect(error.rwSplit).toMatchObject({ outcome: 'unknown', attempts: [{ role: 'primary' }] });
      expect(error).toMatchObject(fields);
      expect(error.message).not.toMatch(/pool is probably full/);
    });

    it('25006, its sessions read only by default: that surfaces, and is no failover', async () => {
      const db = await started();
      await setSettings(cluster().primary, { default_transaction_read_only: 'on' });

      const error = await errorOf(db('notes').insert({ rank: 1 }));
      await setSettings(cluster().primary, { default_transaction_read_only: undefined });

      expect(error).toMatchObject({ code: '25006', severity: 'ERROR' });
      expect(error.rwSplit).not.toHaveProperty('outcome');
      expect(states(db)).toEqual(['up', 'up', 'up']);
    });

    it.each([
      ['57P01', () => endSessions(cluster().primary, "state = 'idle'")],
      ['57P05', () => undefined],
    ])('%s, said to an idle session: it is sent on another', async (code, happens) => {
      if (code === '57P05') await setSettings(cluster().primary, { idle_session_timeout: '50' });
      const db = await started();
      await db('notes').insert({ rank: 1 });
      await happens();
      await eventually(
        async () =>
          (
            await cluster().primary.query(
              "select from pg_stat_activity where query like 'insert%' and state = 'idle'",
            )
          ).length === 0,
      );

      expect(await db('notes').insert({ rank: 2 })).toBeDefined();
    });

    it('53300, it has no connection left: it waits for one, and does not besiege it', async () => {
      const { db } = cold({ ...make(), acquireConnectionTimeout: 8000 });
      await rwSplit(db).checkNow();
      const taken = await takeAll(cluster().primary);

      const writing = db('notes').insert({ rank: 3 });
      const isWritten = Promise.resolve(writing).then(
        () => 'written',
        (error: Failed) => error.message,
      );
      await sleep(700);
      const [primary] = rwSplit(db).hosts();
      await Promise.all(taken.map((client) => client.end()));

      expect(primary?.state).toBe('up');
      expect(primary?.served.connectErrors ?? 0).toBeLessThan(8);
      expect(await isWritten).toBe('written');
    });
  });
});

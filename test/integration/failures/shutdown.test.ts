import { afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { useChaosNetwork } from '../../support/chaos-network.ts';
import { runProgram } from '../../support/child.ts';
import { eventually } from '../../support/eventually.ts';
import { amount, inLong } from '../../support/long.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const health = { intervalMillis: 50, timeoutMillis: 200, hangMillis: 400, backoffMaxMillis: 200 };
const failover = { waitMillis: 5000 };
const acquireMillis = 1000;
const machineMillis = 3000;

const slowRead = 'select pg_sleep(0.05), served_by() as host';

interface Started {
  readonly db: Knex;
  /** What it logged or told so far. */
  readonly heard: string[];
}

describe('destroy()', () => {
  const cluster = useRoutingDatabase();
  const network = useChaosNetwork(cluster);
  const open: Knex[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((db) => db.destroy()));
  });

  function start(): Started {
    const { connection, rwSplit: hosts } = network.config();
    const heard: string[] = [];
    const hear = (message: unknown): void => {
      heard.push(String(message));
    };
    const db = knex({
      client: RWSplitClient,
      connection: connection ?? {},
      pool: { min: 0, max: 2 },
      acquireConnectionTimeout: acquireMillis,
      log: { warn: hear, error: hear, debug: hear, deprecate: hear },
      rwSplit: { ...hosts, health, failover },
    });
    open.push(db);
    const handle = rwSplit(db);
    for (const event of ['host:up', 'host:down', 'host:role', 'host:lag', 'retry'] as const) {
      handle.on(event, () => heard.push(event));
    }
    return { db, heard };
  }

  const outcomes = (queries: PromiseLike<unknown>[]): Promise<unknown[]> =>
    Promise.all(
      queries.map((query) =>
        Promise.resolve(query).then(
          () => 'served',
          (error: Error) => error.message,
        ),
      ),
    );

  const work = (db: Knex): PromiseLike<unknown>[] => [
    db.raw(slowRead),
    db.raw(slowRead),
    db('notes').insert({ rank: 1 }),
    db.transaction((trx) => trx.raw(slowRead)),
    db.raw(slowRead).stream().toArray(),
    rwSplit(db).checkNow(),
  ];

  /** Destroys, and says how long that took; nothing may be heard of the instance from there on. */
  async function end({ db, heard }: Started, times = 1): Promise<number> {
    const begin = performance.now();
    await Promise.all(Array.from({ length: times }, () => db.destroy()));
    const millis = performance.now() - begin;
    heard.length = 0;
    return millis;
  }

  const situations: [string, (started: Started) => Promise<void> | void, number][] = [
    ['before anything was asked', () => undefined, machineMillis],
    ['before the first probe came back', ({ db }) => void outcomes(work(db)), machineMillis],
    [
      'while probes and queries are in flight',
      async ({ db }) => {
        await db.raw('select 1');
        void outcomes(work(db));
        void rwSplit(db).checkNow();
        await new Promise((resolve) => {
          setTimeout(resolve, Math.random() * 60);
        });
      },
      machineMillis,
    ],
    [
      'while a retry is under way',
      async ({ db }) => {
        await db.raw(slowRead);
        void outcomes([db.raw(slowRead), db.raw(slowRead)]);
        network.to('replica-1').cut();
        network.to('replica-2').cut();
        await new Promise((resolve) => {
          setTimeout(resolve, Math.random() * 20);
        });
      },
      machineMillis,
    ],
  ];

  it.each(situations)('leaves nothing behind %s', async (_, bring, boundMillis) => {
    const quiet: string[][] = [];
    for (let round = 0; round < amount(3); round++) {
      const started = start();
      await bring(started);

      const millis = await end(started, 1 + (round % 2));

      expect(millis).toBeLessThan(boundMillis);
      quiet.push(started.heard);
    }
    for (const { name } of cluster().hosts) {
      await eventually(() => network.to(name).connections === 0, { withinMillis: 10_000 });
    }
    expect(quiet.flat()).toEqual([]);
  });

  const held: [string, (started: Started) => Promise<PromiseLike<unknown>[]>, number, RegExp][] = [
    [
      'while hosts are silent',
      async ({ db }) => {
        await Promise.all(work(db));
        for (const { name } of cluster().hosts) network.to(name).blackHole();
        return work(db);
      },
      acquireMillis,
      /served|unreachable|did not answer|Unable to acquire|terminated|not queryable|no answer/,
    ],
    [
      'while connections are being opened to silent hosts',
      async ({ db }) => {
        for (const { name } of cluster().hosts) network.to(name).blackHole();
        return work(db);
      },
      acquireMillis,
      /served|Unable to acquire a connection/,
    ],
    [
      'while a failover is waited for',
      async ({ db }) => {
        await Promise.all(work(db));
        network.to('primary').refuse();
        network.to('primary').cut();
        const [primary] = rwSplit(db).hosts();
        await awaitHost(db, primary?.name ?? '', ({ state }) => state === 'down');
        return [db('notes').insert({ rank: 2 }), db.transaction((trx) => trx.raw('select 1'))];
      },
      machineMillis,
      /Unable to acquire a connection/,
    ],
  ];

  it.each(held)('is bounded %s', async (_, bring, boundMillis, expected) => {
    const started = start();
    const queries = outcomes(await bring(started));

    const millis = await end(started);

    expect(millis).toBeLessThan(boundMillis + machineMillis);
    for (const outcome of await queries) expect(outcome).toMatch(expected);
    expect(started.heard).toEqual([]);
    for (const { name } of cluster().hosts) {
      await network.to(name).pass();
      network.to(name).cut();
    }
  });

  it('is undone by initialize(), with a monitor of its own', async () => {
    const { db } = start();
    await db.raw('select 1');
    await db.destroy();
    const gone = rwSplit(db);

    db.initialize();
    await db.raw('select 1');

    // The query waits for no host but its own.
    for (const { name } of gone.hosts()) {
      // oxlint-disable-next-line no-await-in-loop -- all of them, in any order.
      await awaitHost(db, name, ({ state }) => state === 'up');
    }
    expect(gone.hosts().map(({ state }) => state)).toEqual(['up', 'up', 'up']);
    network.to('replica-1').refuse();
    network.to('replica-1').cut();
    await awaitHost(db, 'replica-1', ({ state }) => state === 'down');
    await network.to('replica-1').pass();
    await awaitHost(db, 'replica-1', ({ state }) => state === 'up');
  });

  it('ends the wait of a query for a function of replicas that hangs', async () => {
    const { connection } = network.config();
    const db = knex({
      client: RWSplitClient,
      connection: connection ?? {},
      rwSplit: { replicas: async () => new Promise(() => undefined) },
    });
    open.push(db);
    const waiting = outcomes([db.raw('select 1'), db('notes').insert({ rank: 1 })]);
    await new Promise(setImmediate);

    const begin = performance.now();
    await db.destroy();
    const messages = await waiting;

    // Long before the function would no longer be waited for.
    expect(performance.now() - begin).toBeLessThan(machineMillis);
    for (const message of messages) {
      expect(message).toMatch(/Unable to acquire a connection/);
    }
  });

  it('leaves a process without handles, late events and unhandled rejections', async () => {
    const { connection, rwSplit: hosts } = network.config();

    // Node ends a process that leaves a rejection unhandled.
    const { exitCode, printed, stderr } = await runProgram(`
      const { RWSplitClient, rwSplit } = library();
      const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
      const late = [];
      for (let round = 0; round < ${amount(3)}; round++) {
        let isDestroyed = false;
        const hear = (what) => { if (isDestroyed) late.push(String(what)); };
        const db = knex({
          client: RWSplitClient,
          ...${JSON.stringify({ connection, rwSplit: { ...hosts, health, failover } })},
          pool: { min: 0, max: 2 },
          log: { warn: hear, error: hear, debug: hear, deprecate: hear },
        });
        const handle = rwSplit(db);
        for (const event of ['host:up', 'host:down', 'host:role', 'host:lag', 'retry', 'route']) {
          handle.on(event, () => hear(event));
        }
        const ignore = () => undefined;
        const work = () => {
          for (let i = 0; i < 3; i++) db.raw(${JSON.stringify(slowRead)}).catch(ignore);
          db('notes').insert({ rank: 1 }).catch(ignore);
          db.transaction((trx) => trx.raw('select 1')).catch(ignore);
          handle.checkNow().catch(ignore);
        };
        if (round % 3 > 0) await db.raw('select 1');
        work();
        await sleep(Math.random() * 60);
        if (round % 3 > 1) work();
        await db.destroy();
        isDestroyed = true;
      }
      await sleep(200);
      const left = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
      print({ late, left });
    `);

    expect({ exitCode, printed, stderr }).toEqual({
      exitCode: 0,
      printed: { late: [], left: [] },
      stderr: '',
    });
  });

  describe('is not needed by a script that', () => {
    const config = (): string => {
      const { connection, rwSplit: hosts } = network.config();
      return JSON.stringify({ connection, rwSplit: { ...hosts, health, failover } });
    };
    const patienceMillis = 3000;
    const pool = `pool: { min: 0, max: 2, idleTimeoutMillis: 200, reapIntervalMillis: 50 }, log: { warn() {} }`;
    const instance = (client: string, budgetMillis: number): string =>
      `const db = knex({ client: ${client}, ...${config()}, ${pool}, acquireConnectionTimeout: ${budgetMillis} });`;
    const split = (budgetMillis = patienceMillis): string =>
      instance('library().RWSplitClient', budgetMillis);
    const plain = (): string =>
      `const db = knex({ client: 'pg', connection: ${JSON.stringify(network.config().connection)}, ${pool}, acquireConnectionTimeout: ${patienceMillis} });`;
    const query = `(await db.raw('select 1 as one')).rows`;
    const transaction = `await db.transaction(async (trx) => (await trx.raw('select 2 as two')).rows)`;
    const lock = `(await db.raw('select pg_advisory_lock(11)'), await db.raw('select pg_advisory_unlock(11) as three')).rows`;

    it.each<[string, string]>([
      [
        'reads, makes a transaction, locks and unlocks',
        `print([${query}, ${transaction}, ${lock}]);`,
      ],
      ...inLong<[string, string]>(
        ['only constructs', `print('made');`],
        ['makes one query', `print(${query});`],
        ['makes a transaction', `print(${transaction});`],
        ['locks and unlocks', `print(${lock});`],
      ),
    ])('%s', async (_, code) => {
      const [ours, theirs] = await Promise.all([
        runProgram(`${split()} ${code}`),
        runProgram(`${plain()} ${code}`),
      ]);

      expect(ours).toEqual({ ...theirs, exitCode: 0 });
    });

    it.each<[string, () => void, string, RegExp]>([
      [
        'meets silent hosts',
        () => cluster().hosts.forEach(({ name }) => network.to(name).blackHole()),
        `db.raw('select 1')`,
        /No host can serve this read.*unreachable/,
      ],
      [
        'waits for a primary in vain',
        () => network.to('primary').refuse(),
        `db('notes').insert({ rank: 4 })`,
        /No host can serve this write.*unreachable/,
      ],
      ...inLong<[string, () => void, string, RegExp]>([
        'meets hosts that refuse',
        () => cluster().hosts.forEach(({ name }) => network.to(name).refuse()),
        `db.raw('select 1')`,
        /No host can serve this read.*unreachable/,
      ]),
    ])('%s, and tells it', async (_, happens, query, expected) => {
      happens();

      const ended = await runProgram(
        `${split(1500)} try { print(await ${query}); } catch (error) { print(error.message); }`,
      );

      expect(ended).toMatchObject({ exitCode: 0, printed: expect.stringMatching(expected) });
      for (const { name } of cluster().hosts) await network.to(name).pass();
    });

    it('runs a read again', async () => {
      const program = runProgram(
        `${split()} await db.raw('select 1'); print((await db.raw('select pg_sleep(0.6), served_by() as host')).rows[0].host);`,
      );
      const running = async (): Promise<string> => {
        for (const host of cluster().replicas) {
          const rows = await host.query(
            `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
          );
          if (rows.length > 0) return host.name;
        }
        throw new Error('nobody runs it');
      };
      const busy = await eventually(running, { withinMillis: 15_000 });

      network.to(busy).cut();

      const other = cluster().replicas.find(({ name }) => name !== busy);
      expect(await program).toMatchObject({ exitCode: 0, printed: other?.name });
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { useChaosNetwork } from '../../support/chaos-network.ts';
import type { ChaosProxy } from '../../support/chaos-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { useInstances } from '../../support/instances.ts';
import { amount } from '../../support/long.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const health = {
  intervalMillis: 100,
  timeoutMillis: 200,
  hangMillis: 400,
  slowStartMillis: 100,
  backoffMaxMillis: 300,
};
const failover = { waitMillis: 1000 };

// Until a host misses a probe, and then until what runs on it is given up; and for a slow machine.
const machineMillis = 2000;
const silenceMillis =
  1.2 * health.intervalMillis + health.timeoutMillis + health.hangMillis + machineMillis;
// Until a probe has dialled anew, and two of them have seen a connection that stands still.
const stillMillis = silenceMillis + 2 * 1.2 * health.intervalMillis;

interface Failed extends Error {
  readonly code?: string;
  readonly rwSplit?: { readonly role: string; readonly outcome?: string };
}

/** What became of a query, and how long that took. */
interface Result {
  readonly host?: string | undefined;
  readonly error?: Failed | undefined;
  readonly millis: number;
}

async function resultOf(query: PromiseLike<unknown>): Promise<Result> {
  const begin = performance.now();
  const millis = (): number => performance.now() - begin;
  try {
    const answer = (await query) as { rows?: { host?: string }[] };
    return { host: answer.rows?.[0]?.host, millis: millis() };
  } catch (error) {
    return { error: error as Failed, millis: millis() };
  }
}

/** Of a statement that runs for a while, and says who ran it. */
const slowRead = "select pg_sleep(0.5), served_by() as host, 'slow' as pace";
const slowWrite =
  'insert into notes (rank) select 1 from pg_sleep(0.3) returning served_by() as host';

/** What happens on the way to a host, and how long a query may then take. */
type Fault = readonly [string, (proxy: ChaosProxy) => void, number];

const swallowsEstablished: Fault = [
  'swallows established connections',
  (proxy) => proxy.blackHoleEstablished(),
  stillMillis,
];

describe('With a network that lies', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);
  const network = useChaosNetwork(cluster);

  const make = async ({ rwSplit: more, ...config }: Knex.Config = {}): Promise<Knex> => {
    const { connection, rwSplit: hosts } = network.config();
    const db = await split({
      connection: connection ?? {},
      acquireConnectionTimeout: 3000,
      ...config,
      rwSplit: { ...hosts, health, failover, ...more },
    });
    await db.raw(slowRead.replace('0.5', '0'));
    return db;
  };

  /** Waits until a host's server is at work on a statement. */
  const untilRunning = async (name: string): Promise<void> => {
    const server = cluster().hosts.find((host) => host.name === name);
    await eventually(async () => {
      const rows = await server?.query(
        `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      );
      return rows !== undefined && rows.length > 0;
    });
  };

  /** After the network is well, every host serves again, and no pool holds on to anything. */
  const isWellAgain = async (db: Knex): Promise<void> => {
    for (const { name } of cluster().hosts) await network.to(name).pass();
    for (const { name, role } of rwSplit(db).hosts()) {
      await awaitHost(db, name, ({ state }) => state === 'up', 10_000);
      await awaitHost(db, name, ({ pool }) => pool.used === 0 && pool.pending === 0);
      const server = role === 'primary' ? 'primary' : name;
      // A connection that was being opened as the network failed has yet to run out of its time, and
      // a query that must run on this host has no other.
      await eventually(
        async () => {
          const served = db
            .raw('select served_by() as host')
            .queryContext({ rwSplit: { host: name } });
          expect(await resultOf(served)).toMatchObject({ host: server });
        },
        { withinMillis: 15_000 },
      );
    }
  };

  const runningReadsAreServed = async (happens: Fault[1], boundMillis: number): Promise<void> => {
    const db = await make();
    const running = Array.from({ length: 4 }, () => resultOf(db.raw(slowRead)));
    await untilRunning('replica-1');

    happens(network.to('replica-1'));
    const results = await Promise.all(running);

    expect(results.map(({ error }) => error)).toEqual(results.map(() => undefined));
    expect(results.map(({ host }) => host)).not.toContain('replica-1');
    expect(Math.max(...results.map(({ millis }) => millis))).toBeLessThan(boundMillis + 600);
    await isWellAgain(db);
  };

  const faults: readonly Fault[] = [
    ['swallows everything', (proxy) => proxy.blackHole(), silenceMillis],
    ['is cut and refused', (proxy) => (proxy.refuse(), proxy.cut()), machineMillis],
    swallowsEstablished,
    ['is cut', (proxy) => proxy.cut(), machineMillis],
    ['becomes slower than a probe may be', (proxy) => proxy.delay(5000), silenceMillis],
  ];

  describe.each(faults.slice(0, amount(1)))(
    'where the way to a host %s',
    (_, happens, boundMillis) => {
      it('running reads are served by other hosts', async () => {
        await runningReadsAreServed(happens, boundMillis);
      });

      it('reads that find its connections idle do not fail', async () => {
        const db = await make();
        happens(network.to('replica-1'));

        const results = await Promise.all(
          Array.from({ length: 12 }, () => resultOf(db.raw('select served_by() as host'))),
        );

        expect(results.map(({ error }) => error)).toEqual(results.map(() => undefined));
        expect(Math.max(...results.map(({ millis }) => millis))).toBeLessThan(boundMillis);
        await isWellAgain(db);
      });

      it('running writes fail as unknown, and those that wait are sent later or not at all', async () => {
        const db = await make({ pool: { min: 0, max: 1 } });
        const running = resultOf(db.raw(slowWrite));
        await untilRunning('primary');
        const waiting = [1, 2, 3].map(() =>
          resultOf(db.raw('insert into notes (rank) values (2) returning served_by() as host')),
        );

        happens(network.to('primary'));
        const first = await running;
        const others = await Promise.all(waiting);

        expect(first.error?.rwSplit).toMatchObject({ role: 'primary', outcome: 'unknown' });
        expect(first.millis).toBeLessThan(boundMillis);
        const bound = 2 * boundMillis + failover.waitMillis;
        expect(Math.max(...others.map(({ millis }) => millis))).toBeLessThan(bound);
        for (const { error, host } of others) {
          expect(error?.message ?? host).toMatch(/^primary$|unreachable/);
        }
        expect(first.error?.message).not.toMatch(/pool is probably full/);
        await isWellAgain(db);
      });

      it('a transaction fails, and its end is no wait', async () => {
        const db = await make();
        const seen: Failed[] = [];
        const running = resultOf(
          db.transaction(async (trx) => {
            await trx('notes').insert({ rank: 3 });
            await trx.raw(slowRead).catch((error: Failed) => {
              seen.push(error);
              throw error;
            });
          }),
        );
        await untilRunning('primary');

        happens(network.to('primary'));
        const { error, millis } = await running;

        expect(seen).toHaveLength(1);
        expect(error).toBe(seen[0]);
        expect(error?.rwSplit?.outcome).toBeUndefined();
        expect(millis).toBeLessThan(boundMillis);
        await isWellAgain(db);
      });

      it('a stream begins elsewhere, or ends with an error once it has begun', async () => {
        const db = await make();
        const hint = { rwSplit: { host: 'replica-1' } };
        const fresh = Array.from({ length: 2 }, () =>
          resultOf(db.raw(slowRead).stream().toArray()),
        );
        const begun = db
          .raw("select repeat('x', 1000) as row from generate_series(1, 1000000)")
          .queryContext(hint)
          .stream();
        await new Promise((resolve) => {
          begun.once('data', resolve);
        });
        begun.pause();

        happens(network.to('replica-1'));
        const rest = resultOf(
          (async () => {
            for await (const row of begun) void row;
          })(),
        );
        const results = await Promise.all(fresh);
        const { error, millis } = await rest;

        expect(results.map((result) => result.error)).toEqual([undefined, undefined]);
        expect(error).toBeDefined();
        expect(millis).toBeLessThan(boundMillis);
        await isWellAgain(db);
      });
    },
  );

  it('running reads on connections that are swallowed are served by other hosts', async () => {
    const [, happens, boundMillis] = swallowsEstablished;
    await runningReadsAreServed(happens, boundMillis);
  });

  it('a COMMIT whose answer is swallowed has an unknown outcome', async () => {
    const db = await make();
    const { error, millis } = await resultOf(
      db.transaction(async (trx) => {
        await trx('notes').insert({ rank: 4 });
        network.to('primary').blackHoleEstablished();
      }),
    );

    expect(error?.rwSplit).toMatchObject({ role: 'primary', outcome: 'unknown' });
    expect(error?.message).toMatch(/unreachable/);
    expect(millis).toBeLessThan(stillMillis);
    await isWellAgain(db);
  });

  it('a read-only transaction fails, and is not run elsewhere', async () => {
    const db = await make();
    const retries: unknown[] = [];
    rwSplit(db).on('retry', (event) => retries.push(event));
    await rwSplit(db).drain('replica-2');
    const running = resultOf(db.transaction((trx) => trx.raw(slowRead), { readOnly: true }));
    await untilRunning('replica-1');

    network.to('replica-1').cut();
    const { error } = await running;

    expect(error).toMatchObject({ rwSplit: { role: 'replica' } });
    expect(error?.rwSplit).not.toHaveProperty('outcome');
    expect(retries).toEqual([]);
    rwSplit(db).readmit('replica-2');
    await isWellAgain(db);
  });

  it('a host that only refuses what is new goes on with what is open', async () => {
    const db = await make();
    for (const { name } of cluster().hosts) network.to(name).refuse();

    const reads = Array.from({ length: 6 }, () => resultOf(db.raw('select served_by() as host')));
    const write = resultOf(
      db.raw('insert into notes (rank) values (5) returning served_by() as host'),
    );

    expect((await Promise.all(reads)).map(({ error }) => error)).toEqual(
      reads.map(() => undefined),
    );
    expect(await write).toMatchObject({ host: 'primary' });
    await isWellAgain(db);
  });

  it('a slow way takes no host down', async () => {
    const db = await make();
    const downs: unknown[] = [];
    rwSplit(db).on('host:down', (event) => downs.push(event));
    for (const { name } of cluster().hosts) network.to(name).delay(20);

    const results = await Promise.all(
      Array.from({ length: 20 }, () => resultOf(db.raw('select served_by() as host'))),
    );
    await rwSplit(db).checkNow();

    expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(downs).toEqual([]);
    await isWellAgain(db);
  });

  it('a read never seen before is served without a primary, however late the catalog answers', async () => {
    const slowly = { timeoutMillis: 2000, intervalMillis: 500 };
    const db = await make({
      acquireConnectionTimeout: 10_000,
      rwSplit: { consistency: 'eventual', health: { ...health, ...slowly } },
    });
    network.to('primary').refuse();
    network.to('primary').cut();
    for (const { name } of cluster().replicas) network.to(name).delay(150);

    const read = await resultOf(
      db('notes').first(db.raw('served_by() as host'), db.raw('? as new', [1])),
    );

    expect(read.error).toBeUndefined();
    await isWellAgain(db);
  });

  it('what waits behind a connection that never opens is served once the way is free', async () => {
    const db = await make({
      acquireConnectionTimeout: 10_000,
      rwSplit: { replicas: [], failover: { waitMillis: 8000 } },
    });
    network.to('primary').blackHole();
    const writes = Array.from({ length: 4 }, () =>
      resultOf(db.raw('insert into notes (rank) values (7) returning served_by() as host')),
    );
    const [name] = rwSplit(db)
      .hosts()
      .map((host) => host.name);
    await awaitHost(db, name ?? '', ({ state }) => state === 'down');

    await network.to('primary').pass();
    const results = await Promise.all(writes);

    // Those that were sent on open connections, and those that had none.
    const lost = results.flatMap(({ error }) => error ?? []);
    expect(lost.map((error) => error.rwSplit?.outcome)).toEqual(lost.map(() => 'unknown'));
    expect(lost.length).toBeLessThan(results.length);
    expect(Math.max(...results.map(({ millis }) => millis))).toBeLessThan(silenceMillis + 3000);
  });
});

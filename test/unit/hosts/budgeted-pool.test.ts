import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { shortageOf } from '../../../lib/hosts/budget-shortage.ts';
import { BudgetedPool } from '../../../lib/hosts/budgeted-pool.ts';
import { TURN_MILLIS } from '../../../lib/hosts/server-budget.ts';
import { ServerBudgets } from '../../../lib/hosts/server-budgets.ts';
import { CountedConnection, CountingServer } from '../../support/counting-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { amount } from '../../support/long.ts';
import { seededRandom } from '../../support/seeded-random.ts';

type Pool = BudgetedPool<CountedConnection>;

interface Bench {
  readonly clock: FakeClock;
  readonly server: CountingServer;
  readonly budgets: ServerBudgets;
  readonly make: (label: string, settings?: Partial<Making>) => Pool;
}

interface Making {
  readonly max: number;
  readonly min: number;
  readonly open: (server: CountingServer) => void | Promise<void>;
  readonly close: (connection: CountedConnection) => void | Promise<void>;
  readonly acquireTimeoutMillis: number;
  readonly createTimeoutMillis: number;
  readonly cancel: (connection: CountedConnection) => Promise<void>;
}

/** Pools of one server, with a place for a probe besides `places`. */
function bench(places: number): Bench {
  const clock = new FakeClock();
  const server = new CountingServer(clock);
  const budgets = new ServerBudgets(clock);
  const make = (label: string, settings: Partial<Making> = {}): Pool => {
    const { max = 5, min = 0, open, close, cancel } = settings;
    const { acquireTimeoutMillis = 60_000, createTimeoutMillis = 500 } = settings;
    return new BudgetedPool<CountedConnection>(
      {
        create: async (slot) => {
          const connection = server.dial(slot);
          await open?.(server);
          return connection;
        },
        destroy: close ?? ((connection) => connection.close()),
        validate: (connection) => server.seen.has(connection),
        min,
        max,
        acquireTimeoutMillis,
        createTimeoutMillis,
        cancel,
        propagateCreateError: true,
      },
      clock,
      budgets.of('pg:5432', places + 1),
      label,
    );
  };
  return { clock, server, budgets, make };
}

/** Lets a turn pass, and what it sets off. */
async function afterTurn(clock: FakeClock): Promise<void> {
  clock.advance(TURN_MILLIS);
  for (let i = 0; i < 5; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other.
    await turn();
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other.
    await turn();
  }
}

/** Acquires, and says who came when. */
function ask(pool: Pool, name: string, served: string[]): Promise<CountedConnection> {
  const { promise } = pool.acquire();
  return promise.then((connection) => {
    served.push(name);
    return connection;
  });
}

describe('BudgetedPool', () => {
  it('opens connections at once while its server has places', async () => {
    const { server, make } = bench(3);
    const pool = make('shop');

    await Promise.all([1, 2, 3].map(async () => pool.acquire().promise));

    expect(server.seen.size).toBe(3);
  });

  it('waits for a place where others hold all of them', async () => {
    const { server, make } = bench(2);
    const [one, other] = [make('one'), make('other')];
    const held = await Promise.all([one.acquire().promise, one.acquire().promise]);
    const served: string[] = [];

    const waiting = ask(other, 'other', served);
    await settle();
    expect([served, server.seen.size]).toEqual([[], 2]);
    await one.discard(held[0]);

    await waiting;
    expect(server.most).toBe(2);
  });

  it('has the longest-idle connection of another pool closed, whatever its pool keeps', async () => {
    const { server, clock, make } = bench(2);
    const [one, two, three] = [make('one', { min: 2 }), make('two'), make('three')];
    const first = await one.acquire().promise;
    const second = await two.acquire().promise;
    one.release(first);
    await new Promise((resolve) => setTimeout(resolve, 5));
    two.release(second);

    const waiting = three.acquire().promise;
    await afterTurn(clock);
    await waiting;

    expect([server.seen.has(first), server.seen.has(second)]).toEqual([false, true]);
    expect(server.most).toBe(2);
  });

  it('closes no connection for a place that is about to be free', async () => {
    const ends: (() => void)[] = [];
    const { server, clock, make } = bench(2);
    const one = make('one', {
      close: (connection) =>
        new Promise((resolve) => {
          ends.push(() => {
            connection.close();
            resolve();
          });
        }),
    });
    const [a, b] = await Promise.all([one.acquire().promise, one.acquire().promise]);
    one.release(a);
    one.release(b);
    const waiting = make('other').acquire().promise;

    await afterTurn(clock);
    await afterTurn(clock);
    expect(ends).toHaveLength(1);
    expect(server.seen.size).toBe(2);
    ends[0]?.();

    await waiting;
    expect(one.stats.free).toBe(1);
  });

  it('leaves a connection to its own pool for a turn, and then to who waits longer', async () => {
    const { clock, make } = bench(1);
    const [one, other] = [make('one'), make('other')];
    const served: string[] = [];
    let held = await one.acquire().promise;
    const waiting = ask(other, 'other', served);
    clock.advance(1);
    const own = ask(one, 'own', served);
    one.release(held);
    held = await own;
    const later = ask(one, 'own later', served);

    await afterTurn(clock);
    one.release(held);
    held = await waiting;
    expect(served).toEqual(['own', 'other']);
    await other.discard(held);

    await later;
    expect(served).toEqual(['own', 'other', 'own later']);
  });

  it('serves who waits longest first, whichever pool it asks', async () => {
    const { clock, make } = bench(1);
    const pools = ['a', 'b', 'c'].map((label) => make(label));
    const served: string[] = [];
    const [a, b, c] = pools as [Pool, Pool, Pool];
    const held = await make('first').acquire().promise;
    const takes = [b, c, a].map(async (pool) => {
      clock.advance(1);
      const connection = await ask(pool, pool.label, served);
      await pool.discard(connection);
    });

    held.close();
    await Promise.all(takes);

    expect(served).toEqual(['b', 'c', 'a']);
  });

  it('gives way to nobody who waits for less long than its own request', async () => {
    const { clock, make } = bench(1);
    const [one, other] = [make('one'), make('other')];
    const served: string[] = [];
    const held = await one.acquire().promise;
    const own = ask(one, 'own', served);
    clock.advance(10);
    const waiting = ask(other, 'other', served);
    clock.advance(TURN_MILLIS * 2);

    one.release(held);

    expect(await own).toBe(held);
    await one.discard(held);
    await waiting;
  });

  it('forgets who has given up', async () => {
    const { make } = bench(1);
    const [one, two, three] = [make('one'), make('two'), make('three')];
    const held = await one.acquire().promise;
    const given = two.acquire();
    const waiting = three.acquire().promise;

    given.abort();
    await expect(given.promise).rejects.toThrow('aborted');
    await one.discard(held);
    await waiting;

    expect(two.stats).toMatchObject({ used: 0, free: 0, pending: 0 });
  });

  it('says of an acquire that had no place in its time who holds them', async () => {
    const { make } = bench(2);
    const [one, two] = [make('shop/app'), make('crm/app', { acquireTimeoutMillis: 20 })];
    await Promise.all([one.acquire().promise, one.acquire().promise]);

    const error: unknown = await two.acquire().promise.catch((thrown: unknown) => thrown);

    expect(shortageOf(error)).toBe(
      "the connections of this process to pg:5432 are used up: rwSplit.maxPerServer is 3, one of them the probe's (shop/app: 2)",
    );
  });

  it.each([
    ['its own connections are all in use', 1, async (): Promise<void> => undefined],
    ['its server does not answer the dial', 5, (): Promise<void> => new Promise(() => undefined)],
  ])('says nothing of places where %s', async (_, max, open) => {
    const { make } = bench(4);
    const pool = make('shop', { max, acquireTimeoutMillis: 20, open });
    if (max === 1) await pool.acquire().promise;

    const error: unknown = await pool.acquire().promise.catch((thrown: unknown) => thrown);

    expect([error instanceof Error, shortageOf(error)]).toEqual([true, undefined]);
  });

  it('says nothing of places where the time of its own dial is up', async () => {
    const open = (): Promise<void> => new Promise(() => undefined);
    const { make } = bench(1);
    const pool = make('shop', { createTimeoutMillis: 20, open });

    const error: unknown = await pool.acquire().promise.catch((thrown: unknown) => thrown);

    expect([error instanceof Error, shortageOf(error)]).toEqual([true, undefined]);
  });

  it.each<[string, (pool: Pool, clock: FakeClock) => void]>([
    ['when its time is up', (_, clock) => clock.advance(500)],
    [
      'when its pool is destroyed',
      (pool, clock) => {
        void pool.destroyWithin(100, clock, () => undefined);
        clock.advance(100);
      },
    ],
  ])('gives the place of a connection back that never opens %s', async (_, end) => {
    const { clock, budgets, make } = bench(1);
    const never = (): Promise<void> => new Promise(() => undefined);
    const pool = make('one', { open: never });
    const given = pool.acquire();
    await settle();
    expect(budgets.of('pg:5432', 2).stats.used).toBe(1);

    end(pool, clock);
    // The server has yet to notice.
    clock.advance(1000);

    expect(budgets.of('pg:5432', 2).stats.used).toBe(0);
    given.abort();
    await expect(given.promise).rejects.toThrow('aborted');
  });

  it('does not keep others waiting for those that take long to open', async () => {
    const { clock, make } = bench(4);
    const never = (): Promise<void> => new Promise(() => undefined);
    const slow = make('slow', { open: never, createTimeoutMillis: 2000 });
    const [busy, other] = [make('busy'), make('other')];
    const given = [slow.acquire(), slow.acquire()];
    const held = [await busy.acquire().promise, await busy.acquire().promise] as const;
    clock.advance(400);
    const waiting = other.acquire().promise;
    await afterTurn(clock);
    const own = busy.acquire().promise;

    busy.release(held[0]);
    expect(await own).toBe(held[0]);
    clock.advance(60);
    busy.release(held[0]);

    await waiting;
    for (const pending of given) pending.abort();
    await Promise.allSettled(given.map(({ promise }) => promise));
  });

  it('ends what is idle first when it is destroyed, and what comes back at once', async () => {
    const { clock, server, make } = bench(3);
    const pool = make('shop');
    const [idle, back, kept] = [
      await pool.acquire().promise,
      await pool.acquire().promise,
      await pool.acquire().promise,
    ];
    pool.release(idle);

    const destroyed = pool.destroyWithin(1000, clock, () => undefined);
    await settle();
    expect([...server.seen]).toEqual([back, kept]);
    pool.release(back);
    await settle();

    expect([...server.seen]).toEqual([kept]);
    pool.release(kept);
    await destroyed;
  });

  it('has the server cancel what runs before a connection is severed', async () => {
    const done: string[] = [];
    const { clock, budgets, make } = bench(1);
    const cancel = async (): Promise<void> => {
      await turn();
      done.push(`cancelled, ${budgets.of('pg:5432', 2).stats.used} used`);
    };
    const pool = make('shop', { cancel });
    await pool.acquire().promise;

    const destroyed = pool.destroyWithin(100, clock, () => done.push('severed'));
    clock.advance(100);
    await destroyed;

    expect(done).toEqual(['cancelled, 1 used', 'severed']);
  });

  it('says so, too, of one whose dial began late for want of a place', async () => {
    const { clock, make } = bench(1);
    const never = (): Promise<void> => new Promise(() => undefined);
    const [one, two] = [make('one'), make('two', { acquireTimeoutMillis: 30, open: never })];
    const held = await one.acquire().promise;
    const waiting = two.acquire().promise.catch((thrown: unknown) => thrown);
    clock.advance(TURN_MILLIS);

    await one.discard(held);

    expect(shortageOf(await waiting)).toMatch(/maxPerServer is 2/);
  });

  it('has no room where others use every place, and some where one is idle', async () => {
    const { make } = bench(1);
    const [one, other] = [make('one'), make('other')];
    expect(other.hasRoom()).toBe(true);
    const held = await one.acquire().promise;
    expect(other.hasRoom()).toBe(false);

    one.release(held);

    expect(other.hasRoom()).toBe(true);
  });

  it('gives the place of a connection back that its server has closed', async () => {
    const { make, budgets } = bench(1);
    const [one, other] = [make('one'), make('other')];
    const held = await one.acquire().promise;

    held.close();

    expect(budgets.of('pg:5432', 2).stats.used).toBe(0);
    await other.acquire().promise;
  });

  it('takes no place while its gate is closed, and one as it opens', async () => {
    const { clock, make, server } = bench(1);
    const pool = make('shop');
    pool.gate.rest(new Error('too many clients already'));

    const waiting = pool.acquire().promise;
    await settle();
    expect(server.most).toBe(0);
    clock.advance(1000);

    expect(await waiting).toBeInstanceOf(CountedConnection);
  });

  it.each(Array.from({ length: amount(10) }, (_, seed) => seed))(
    'keeps the server from seeing too many, and loses no place: seed %d',
    async (seed) => {
      const random = seededRandom(seed);
      const places = 1 + Math.floor(random() * 4);
      const { clock, server, budgets, make } = bench(places);
      const open = async (): Promise<void> => {
        if (random() < 0.5) await turn();
        if (random() < 0.1) {
          const last = [...server.seen].at(-1);
          if (random() < 0.5) last?.close();
          else last?.drop();
          throw new Error('refused');
        }
      };
      const close = async (connection: CountedConnection): Promise<void> => {
        if (random() < 0.3) await turn();
        if (random() < 0.1) connection.drop();
        else connection.close();
      };
      const made = (): Pool => make('pool', { max: 1 + Math.floor(random() * 3), open, close });
      const pools = [made(), made(), made(), made()];
      const held: (readonly [Pool, CountedConnection])[] = [];
      const asked: ReturnType<Pool['acquire']>[] = [];
      const leaving: Promise<void>[] = [];
      const any = (list: readonly unknown[]): number => Math.floor(random() * list.length);

      for (let step = 0; step < 400; step++) {
        const dice = random();
        const pool = pools[any(pools)] as Pool;
        if (dice < 0.35) {
          const pending = pool.acquire();
          asked.push(pending);
          pending.promise.then(
            (connection) => held.push([pool, connection]),
            () => undefined,
          );
        } else if (dice < 0.65) {
          const [given] = held.splice(any(held), 1);
          if (given !== undefined) {
            if (random() < 0.8) given[0].release(given[1]);
            else void given[0].discard(given[1]);
          }
        } else if (dice < 0.7) {
          asked.splice(any(asked), 1)[0]?.abort();
        } else if (dice < 0.75) {
          [...server.seen][any([...server.seen])]?.close();
        } else if (dice < 0.78) {
          // One client is destroyed, and another one made.
          leaving.push(pool.destroyWithin(100, clock, (connection) => connection.close()));
          pools.splice(pools.indexOf(pool), 1, made());
        } else {
          clock.advance(random() * 100);
        }
        // oxlint-disable-next-line no-await-in-loop -- one step after the other.
        if (random() < 0.7) await turn();
        expect(server.most).toBeLessThanOrEqual(places);
      }

      const ends = [...leaving, ...pools.map((pool) => pool.destroyWithin(100, clock, () => 0))];
      const passing = setInterval(() => clock.advance(100), 0);
      await Promise.all(ends);
      clearInterval(passing);
      clock.advance(10_000);

      expect([server.seen.size, budgets.size]).toEqual([0, 0]);
    },
  );
});

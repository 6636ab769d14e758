import { describe, expect, it } from '@jest/globals';
import { Pool } from 'tarn';
import type { Connection } from '../../../lib/hosts/host.ts';
import { HostPool } from '../../../lib/hosts/pool.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A connection whose number tells which it is. */
interface Numbered extends Connection {
  readonly number: number;
}

type AnyPool = Pool<Numbered>;
type Note = (what: string) => void;

interface Behaviour {
  readonly create?: (number: number) => Promise<Numbered>;
  readonly validate?: (connection: Numbered) => boolean;
  readonly propagateCreateError?: boolean;
}

const eventNames = ['acquireRequest', 'acquireSuccess', 'acquireFail', 'release'] as const;

/** What a scenario saw: the pool's events, and what it noted itself. */
async function seen(
  kind: 'tarn' | 'host',
  scenario: Scenario['run'],
  { create, validate = () => true, ...rest }: Behaviour = {},
): Promise<readonly string[]> {
  const notes: string[] = [];
  let count = 0;
  const settings = {
    create: async () => (create ?? (async (number: number) => ({ number })))(++count),
    validate,
    destroy: ({ number }: Numbered) => void notes.push(`ended ${number}`),
    min: 0,
    max: 2,
    acquireTimeoutMillis: 40,
    createRetryIntervalMillis: 5,
    propagateCreateError: false,
    ...rest,
  };
  const pool: AnyPool =
    kind === 'tarn'
      ? new Pool<Numbered>(settings)
      : new HostPool<Numbered>({ ...settings, isUsable: validate }, new FakeClock());
  for (const name of eventNames) {
    // One name for all of them: tarn's types have an overload for each.
    pool.on(name as 'acquireFail', (...told: unknown[]) => {
      const [detail] = told.slice(-1);
      const error = detail instanceof Error ? ` ${detail.name}: ${detail.message}` : '';
      notes.push(`${name}${error}`);
    });
  }
  try {
    await scenario(pool, (what) => notes.push(what));
  } finally {
    await pool.destroy();
  }
  notes.push(`${pool.numUsed()} used, ${pool.numFree()} free, ${pool.numPendingAcquires()} wait`);
  return notes;
}

async function nameOf(wait: Promise<Numbered>): Promise<string> {
  return wait.then(
    ({ number }) => `got ${number}`,
    (error: Error) => `${error.constructor.name}: ${error.message}`,
  );
}

async function useOne(pool: AnyPool, note: Note): Promise<void> {
  const connection = await pool.acquire().promise;
  note(`got ${connection.number}`);
  pool.release(connection);
}

interface Scenario {
  readonly title: string;
  readonly behaviour?: Behaviour;
  readonly run: (pool: AnyPool, note: Note) => Promise<void>;
}

const scenarios: readonly Scenario[] = [
  {
    title: 'who waits gets what is given back, first come first served',
    run: async (pool, note) => {
      const held = [await pool.acquire().promise, await pool.acquire().promise];
      const waits = [pool.acquire(), pool.acquire(), pool.acquire()].map(({ promise }) => promise);
      for (const wait of waits.slice(0, 2)) {
        const connection = held.shift();
        if (connection !== undefined) pool.release(connection);
        const given = await wait;
        note(`got ${given.number}`);
        held.push(given);
      }
      const [first, second] = held;
      if (first !== undefined) pool.release(first);
      const last = await waits[2];
      note(`got ${last?.number}`);
      for (const connection of [second, last]) {
        if (connection !== undefined) pool.release(connection);
      }
    },
  },
  {
    title: 'a wait that takes too long ends, and leaves what comes back to others',
    run: async (pool, note) => {
      const held = [await pool.acquire().promise, await pool.acquire().promise];
      note(await nameOf(pool.acquire().promise));
      note(`${pool.numPendingAcquires()} wait`);
      for (const connection of held) pool.release(connection);
      await useOne(pool, note);
    },
  },
  {
    title: 'a wait that is ended from outside ends, once',
    run: async (pool, note) => {
      const held = [await pool.acquire().promise, await pool.acquire().promise];
      const wait = pool.acquire();
      wait.abort();
      wait.abort();
      note(await nameOf(wait.promise));
      note(`${pool.numPendingAcquires()} wait, rejected: ${wait.isRejected}`);
      for (const connection of held) pool.release(connection);
    },
  },
  {
    title: 'one that was served is not ended any more',
    run: async (pool, note) => {
      const wait = pool.acquire();
      const connection = await wait.promise;
      wait.abort();
      note(`${await nameOf(wait.promise)}, rejected: ${wait.isRejected}`);
      pool.release(connection);
    },
  },
  {
    title: 'what cannot be used is ended, and another one opened',
    behaviour: { validate: ({ number }) => number !== 1 },
    run: useOne,
  },
  {
    title: 'where none can be opened, the wait ends with the reason',
    behaviour: { create: () => Promise.reject(new Error('refused')) },
    run: async (pool, note) => note(await nameOf(pool.acquire().promise)),
  },
  {
    title: 'where asked, the first who waits is told at once',
    behaviour: {
      create: async (number) => {
        if (number === 1) throw new Error('refused');
        return { number };
      },
      propagateCreateError: true,
    },
    run: async (pool, note) => {
      note(await nameOf(pool.acquire().promise));
      await useOne(pool, note);
    },
  },
  {
    title: 'a pool that is destroyed ends all waits, once what is in use came back',
    run: async (pool, note) => {
      const held = [await pool.acquire().promise, await pool.acquire().promise];
      const waits = [pool.acquire().promise, pool.acquire().promise].map(nameOf);
      const gone = pool.destroy();
      for (const connection of held) pool.release(connection);
      await gone;
      note((await Promise.all(waits)).join(', '));
    },
  },
];

describe('TarnPool', () => {
  it.each(scenarios)('does as tarn: $title', async ({ run, behaviour }) => {
    const expected = await seen('tarn', run, behaviour);

    expect(await seen('host', run, behaviour)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(3);
  });

  it('loses no connection to a wait that ends in the moment in which it comes back', async () => {
    const pool = smallPool();
    const held = await pool.acquire().promise;
    const [ended, next] = [pool.acquire(), pool.acquire()];

    ended.abort();
    pool.release(held);

    await expect(ended.promise).rejects.toThrow('aborted');
    expect(await next.promise).toBe(held);
    pool.release(held);
    expect(pool.stats).toEqual({ used: 0, free: 1, pending: 0, max: 1 });
    await pool.destroy();
  });

  it('has nobody wait for a pool that was destroyed', async () => {
    const pool = smallPool();
    await pool.destroy();

    await expect(pool.acquire().promise).rejects.toThrow('aborted');
    expect(pool.stats.pending).toBe(0);
  });

  it('ends only waits for one in use where the server has no connection left', async () => {
    const pool = smallPool();
    const held = await pool.acquire().promise;
    const [forAny, forOne] = [pool.acquire(), pool.waitForOne(1000)];

    pool.gate.rest(new Error('sorry, too many clients already'));

    await expect(forOne).rejects.toThrow('aborted');
    pool.release(held);
    expect(await forAny.promise).toBe(held);
    pool.release(held);
    await pool.destroy();
  });

  it('keeps no timer of a wait that has ended', async () => {
    const pool = smallPool();
    const held = await pool.acquire().promise;
    const running = timers();
    const [served, ended] = [pool.acquire(), pool.acquire()];
    expect(timers()).toBe(running + 2);

    pool.release(held);
    ended.abort();

    await served.promise;
    await expect(ended.promise).rejects.toThrow('aborted');
    expect(timers()).toBe(running);
    pool.release(held);
    await pool.destroy();
  });
});

/** A pool of one connection. */
function smallPool(): HostPool<Numbered> {
  return new HostPool<Numbered>(
    {
      create: async () => ({ number: 1 }),
      validate: () => true,
      isUsable: () => true,
      destroy: () => undefined,
      min: 0,
      max: 1,
      acquireTimeoutMillis: 1000,
    },
    new FakeClock(),
  );
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

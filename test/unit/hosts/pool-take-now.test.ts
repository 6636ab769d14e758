import { describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../lib/hosts/host.ts';
import { HostPool } from '../../../lib/hosts/pool.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function makePool(isUsable?: (connection: Connection) => boolean): HostPool<Connection> {
  return new HostPool<Connection>(
    {
      create: async () => ({}),
      validate: () => true,
      destroy: () => undefined,
      isUsable,
      min: 0,
      max: 2,
      acquireTimeoutMillis: 1000,
    },
    new FakeClock(),
  );
}

/** A pool with one idle connection. */
async function makeWarmPool(
  isUsable?: (connection: Connection) => boolean,
): Promise<HostPool<Connection>> {
  const pool = makePool(isUsable);
  pool.release(await pool.acquire().promise);
  return pool;
}

describe('HostPool.takeNow', () => {
  it('takes an idle connection, which goes back like any other', async () => {
    const pool = await makeWarmPool(() => true);

    const taken = pool.takeNow();

    expect(taken).toBeDefined();
    expect(pool.stats).toMatchObject({ used: 1, free: 0 });
    expect(taken !== undefined && pool.release(taken)).toBe(true);
    expect(pool.stats).toMatchObject({ used: 0, free: 1 });
  });

  it('opens nothing where none is idle', () => {
    const pool = makePool(() => true);

    expect(pool.takeNow()).toBeUndefined();
    expect(pool.numPendingCreates()).toBe(0);
  });

  it('leaves a connection that is not usable, or has to be validated, to an acquire', async () => {
    expect((await makeWarmPool(() => false)).takeNow()).toBeUndefined();
    expect((await makeWarmPool()).takeNow()).toBeUndefined();
  });

  it('jumps no queue', async () => {
    const pool = await makeWarmPool(() => true);
    const [first, second] = [await pool.acquire().promise, await pool.acquire().promise];
    const waiting = pool.acquire().promise;

    pool.release(first);

    expect(pool.takeNow()).toBeUndefined();
    expect(await waiting).toBe(first);
    pool.release(second);
  });

  it('takes none of a destroyed pool', async () => {
    const pool = await makeWarmPool(() => true);
    const destroyed = pool.destroy();

    expect(pool.takeNow()).toBeUndefined();
    await destroyed;
  });

  it('tells the listeners of the pool', async () => {
    const pool = await makeWarmPool(() => true);
    const events: string[] = [];
    pool.on('acquireRequest', (id) => events.push(`request ${id}`));
    pool.on('acquireSuccess', (id) => events.push(`success ${id}`));

    pool.takeNow();

    expect(events).toEqual([
      expect.stringMatching(/^request \d+$/),
      events[0]?.replace('request', 'success'),
    ]);
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../lib/hosts/host.ts';
import { HostPool } from '../../../lib/hosts/pool.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface Ended {
  readonly pool: HostPool<Connection>;
  readonly ended: Connection[];
  readonly clock: FakeClock;
}

function makePool(
  max: number,
  create: () => Promise<Connection> = async () => ({}),
  validate: (connection: Connection) => boolean = () => true,
): Ended {
  const ended: Connection[] = [];
  const clock = new FakeClock();
  const pool = new HostPool<Connection>(
    {
      create,
      validate,
      destroy: (connection) => ended.push(connection),
      min: 0,
      max,
      acquireTimeoutMillis: 1000,
    },
    clock,
  );
  return { pool, ended, clock };
}

describe('HostPool', () => {
  it('has room while fewer are used or waited for than it may open', async () => {
    const { pool } = makePool(2);

    await pool.acquire().promise;
    expect(pool.hasRoom()).toBe(true);
    await pool.acquire().promise;
    expect(pool.hasRoom()).toBe(false);
  });

  it('waits no longer than it is told for one acquire, and as before for the next', async () => {
    const { pool } = makePool(1);
    const held = await pool.acquire().promise;

    await expect(pool.acquireWithin(5).promise).rejects.toThrow(/timed out/);

    const waiting = pool.acquire().promise;
    pool.release(held);
    expect(await waiting).toBe(held);
  });

  it('opens another connection in place of a detached one', async () => {
    const { pool } = makePool(1);
    const held = await pool.acquire().promise;

    expect(pool.detach(held)).toBeDefined();

    expect(await pool.acquire().promise).not.toBe(held);
  });

  it('hands out an attached connection again', async () => {
    const { pool, ended } = makePool(1);
    const held = await pool.acquire().promise;
    const detached = pool.detach(held);

    if (detached !== undefined) await pool.attach(detached);

    expect(await pool.acquire().promise).toBe(held);
    expect(ended).toEqual([]);
  });

  it('ends an attached connection that it has no room for', async () => {
    const { pool, ended } = makePool(1);
    const held = await pool.acquire().promise;
    const detached = pool.detach(held);
    await pool.acquire().promise;

    if (detached !== undefined) await pool.attach(detached);

    expect(ended).toEqual([held]);
    expect(pool.stats).toMatchObject({ used: 1, free: 0 });
  });

  it('keeps no process alive for an idle connection', async () => {
    const { pool } = makePool(1);

    pool.release(await pool.acquire().promise);

    const { free } = pool.stats;
    const holds = pool['interval']?.hasRef();
    // Or a failure of this test would keep its own process alive.
    await pool.destroy();
    expect({ free, holds }).toEqual({ free: 1, holds: false });
  });

  it('ends a discarded connection, once', async () => {
    const { pool, ended } = makePool(1);
    const held = await pool.acquire().promise;

    await pool.discard(held);
    await pool.discard(held);

    expect(ended).toEqual([held]);
    expect(pool.stats).toEqual({ used: 0, free: 0, pending: 0, max: 1 });
  });

  it('uses none of the connections of the time before a renewal again', async () => {
    const { pool, ended } = makePool(2);
    const [used, idle] = [await pool.acquire().promise, await pool.acquire().promise];
    pool.release(idle);

    pool.renew();
    await turn();
    expect(ended).toEqual([idle]);
    expect(pool.isUsing(used)).toBe(true);
    expect(pool.release(used)).toBe(true);
    await turn();

    expect(ended).toEqual([idle, used]);
    expect(pool.stats).toMatchObject({ used: 0, free: 0 });
  });

  it('takes the place of an outdated connection that is given back', async () => {
    const { pool } = makePool(1);
    const used = await pool.acquire().promise;
    const waiting = pool.acquire().promise;

    pool.renew();
    pool.release(used);

    expect(await waiting).not.toBe(used);
  });

  it('keeps a connection that opened across a renewal for nobody but who waits for it', async () => {
    const { pool, ended } = makePool(1);
    const waiting = pool.acquire().promise;

    pool.renew();
    const opened = await waiting;
    pool.release(opened);
    await turn();

    expect(ended).toEqual([opened]);
  });

  it('tells listeners of an outdated connection that is given back', async () => {
    const { pool } = makePool(1);
    const used = await pool.acquire().promise;
    const released: Connection[] = [];
    pool.on('release', (connection) => released.push(connection));
    pool.renew();

    pool.release(used);
    expect(pool.release(used)).toBe(false);

    expect(released[0]).toBe(used);
  });

  it('serves those who wait when it may grow', async () => {
    const { pool } = makePool(1);
    await pool.acquire().promise;
    const waiting = pool.acquire().promise;

    pool.resize({ min: 0, max: 2 });

    await expect(waiting).resolves.toBeDefined();
    expect(pool.maximum).toBe(2);
  });

  it('takes nothing from those who use it when it has to shrink', async () => {
    const { pool, ended } = makePool(2);
    await pool.acquire().promise;
    await pool.acquire().promise;

    pool.resize({ min: 0, max: 1 });

    expect(ended).toEqual([]);
    expect(pool.stats).toMatchObject({ used: 2, max: 1 });
    expect(pool.hasRoom()).toBe(false);
  });

  it('turns away all who wait, and none who come later', async () => {
    const { pool } = makePool(1);
    const held = await pool.acquire().promise;
    const waiting = Promise.allSettled([pool.acquire().promise, pool.acquire().promise]);

    pool.turnAway();

    for (const outcome of await waiting) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'aborted' } });
    }
    const later = pool.acquire().promise;
    pool.release(held);
    expect(await later).toBe(held);
  });

  it('waits for what is in use when it is destroyed, but no longer than it may', async () => {
    const { pool, ended, clock } = makePool(2);
    const [back, kept] = [await pool.acquire().promise, await pool.acquire().promise];
    const severed: Connection[] = [];
    let isDestroyed = false;

    const destroyed = pool
      .destroyWithin(100, clock, (connection) => severed.push(connection))
      .then(() => (isDestroyed = true));
    pool.release(back);
    await turn();
    expect({ isDestroyed, severed }).toEqual({ isDestroyed: false, severed: [] });
    clock.advance(100);
    await destroyed;

    expect(severed).toEqual([kept]);
    expect(new Set(ended)).toEqual(new Set([back, kept]));
  });

  it('severs nothing, and leaves no timer, when all comes back in time', async () => {
    const { pool, clock } = makePool(1);
    const held = await pool.acquire().promise;
    const severed: Connection[] = [];

    const destroyed = pool.destroyWithin(100, clock, (connection) => severed.push(connection));
    pool.release(held);
    await destroyed;

    expect(severed).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('has no room while its server had no connection left, but for an idle one', async () => {
    const { pool, clock } = makePool(3);
    pool.gate.rest(new Error('too many clients'));

    expect(pool.hasRoom()).toBe(false);
    clock.advance(1000);
    expect(pool.hasRoom()).toBe(true);
    pool.release(await pool.acquire().promise);
    pool.gate.rest(new Error('too many clients'));
    expect(pool.hasRoom()).toBe(true);
  });

  it('hands out no connection that does not stand its test, whatever its age', async () => {
    const bad = new Set<Connection>();
    const { pool, ended } = makePool(
      1,
      async () => ({}),
      (connection) => !bad.has(connection),
    );
    const first = await pool.acquire().promise;
    pool.release(first);
    bad.add(first);

    const second = await pool.acquire().promise;

    expect(second).not.toBe(first);
    expect(ended).toEqual([first]);
    expect(ended[0]).toBe(first);
  });

  it('keeps as many connections as its size says at least', async () => {
    const { pool } = makePool(1);

    pool.resize({ min: 1, max: 2 });

    expect([pool.minimum, pool.maximum]).toEqual([1, 2]);
    pool.resize({ min: 0, max: 1 });
    expect([pool.minimum, pool.maximum]).toEqual([0, 1]);
  });
});

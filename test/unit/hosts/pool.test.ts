import { describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../lib/hosts/host.ts';
import { HostPool } from '../../../lib/hosts/pool.ts';

interface Ended {
  readonly pool: HostPool<Connection>;
  readonly ended: Connection[];
}

function makePool(max: number): Ended {
  const ended: Connection[] = [];
  const pool = new HostPool<Connection>({
    create: async () => ({}),
    validate: () => true,
    destroy: (connection) => ended.push(connection),
    min: 0,
    max,
    acquireTimeoutMillis: 1000,
  });
  return { pool, ended };
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
});

import { describe, expect, it } from '@jest/globals';
import { SessionStateError } from '../../../lib/errors.ts';
import type { Connection, Host } from '../../../lib/hosts/host.ts';
import { LockKeeper } from '../../../lib/routing/lock-keeper.ts';
import { makeCluster } from '../../support/hosts.ts';

interface Bench {
  readonly keeper: LockKeeper;
  readonly primary: Host;
  readonly locked: Set<Connection>;
  readonly warnings: string[];
  /** Takes a connection that holds a lock, and has it kept. */
  readonly keep: () => Promise<Connection>;
}

function bench(max = 2): Bench {
  const locked = new Set<Connection>();
  const warnings: string[] = [];
  const keeper = new LockKeeper(
    max,
    async (connection) => locked.has(connection),
    (message) => warnings.push(message),
  );
  const [primary] = makeCluster({ primary: { max: 1 } }).hosts;
  if (primary === undefined) throw new Error('A cluster has at least one host.');
  const keep = async (): Promise<Connection> => {
    const connection = await primary.pool.acquire().promise;
    locked.add(connection);
    expect(await keeper.keep(primary, connection)).toBe(true);
    return connection;
  };
  return { keeper, primary, locked, warnings, keep };
}

describe('LockKeeper', () => {
  it('leaves a connection without locks to its pool', async () => {
    const { keeper, primary } = bench();
    const connection = await primary.pool.acquire().promise;

    expect(await keeper.keep(primary, connection)).toBe(false);
    expect(primary.pool.isUsing(connection)).toBe(true);
  });

  it('warns once, and refuses more locks than connections it may keep', async () => {
    const { keeper, keep, warnings } = bench(2);

    await keep();
    await expect(keeper.assertRoom()).resolves.toBeUndefined();
    await keep();

    await expect(keeper.assertRoom()).rejects.toThrow(SessionStateError);
    expect(warnings).toHaveLength(1);
  });

  it('gives a connection back to its pool when its last lock is gone', async () => {
    const { keeper, primary, locked, keep } = bench();
    const [first, second] = [await keep(), await keep()];

    await keeper.unlockWith(async (kept) => {
      expect(kept.map(({ connection }) => connection)).toEqual([first, second]);
      locked.delete(first);
    });

    expect(keeper.size).toBe(1);
    expect(await primary.pool.acquire().promise).toBe(first);
  });

  it('lets one unlock at a time have the connections, after a failed one too', async () => {
    const { keeper, locked, keep } = bench();
    locked.delete(await keep());
    await expect(keeper.unlockWith(() => Promise.reject(new Error('lost')))).rejects.toThrow(
      'lost',
    );

    expect(await keeper.unlockWith(async (kept) => kept.length)).toBe(0);
  });

  it('ends what it keeps when it is destroyed, and keeps nothing from then on', async () => {
    const { keeper, primary, locked, keep } = bench();
    await keep();

    await keeper.destroy();

    expect(keeper.size).toBe(0);
    const late = await primary.pool.acquire().promise;
    locked.add(late);
    expect(await keeper.keep(primary, late)).toBe(false);
  });
});

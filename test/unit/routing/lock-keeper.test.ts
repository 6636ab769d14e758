import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/clock.ts';
import { SessionStateError } from '../../../lib/errors.ts';
import type { Connection, Host } from '../../../lib/hosts/host.ts';
import { listenToServer, serverFacts } from '../../../lib/hosts/server-facts.ts';
import { LockKeeper } from '../../../lib/routing/lock-keeper.ts';
import { makeCluster } from '../../support/hosts.ts';

interface Bench {
  readonly keeper: LockKeeper;
  readonly primary: Host;
  readonly locked: Set<Connection>;
  /** Connections that nobody else may have. */
  readonly unfit: Set<Connection>;
  readonly warnings: string[];
  /** Takes a connection that holds a lock, and has it kept. */
  readonly keep: () => Promise<Connection>;
}

function bench(max = 2): Bench {
  const locked = new Set<Connection>();
  const warnings: string[] = [];
  const unfit = new Set<Connection>();
  const keeper = new LockKeeper({
    max,
    holdsLocks: async (connection) => locked.has(connection),
    isReusable: async (connection) => !unfit.has(connection),
    warn: (message) => warnings.push(message),
    clock: systemClock,
    waitMillis: 50,
  });
  const [primary] = makeCluster({ primary: { max: 1 } }).hosts;
  if (primary === undefined) throw new Error('A cluster has at least one host.');
  const keep = async (): Promise<Connection> => {
    const connection = await primary.pool.acquire().promise;
    locked.add(connection);
    expect(await keeper.keep(primary, connection, true)).toBe('kept');
    return connection;
  };
  return { keeper, primary, locked, unfit, warnings, keep };
}

function takenAway(connection: Connection): void {
  listenToServer(connection, () => undefined);
  Object.assign(serverFacts(connection) ?? {}, { isEnded: true });
}

describe('LockKeeper', () => {
  it('leaves a connection without locks to its pool', async () => {
    const { keeper, primary } = bench();
    const connection = await primary.pool.acquire().promise;

    expect(await keeper.keep(primary, connection, true)).toBe('free');
    expect(primary.pool.isUsing(connection)).toBe(true);
  });

  it('warns once, and refuses more locks than connections it may keep', async () => {
    const { keeper, keep, warnings } = bench(2);

    await keep();
    const giveBack = await keeper.reserve();
    await keep();
    giveBack();

    await expect(keeper.reserve()).rejects.toThrow(SessionStateError);
    expect(warnings).toHaveLength(1);
  });

  it('counts places that are reserved', async () => {
    const { keeper } = bench(2);
    const giveBack = await keeper.reserve();
    await keeper.reserve();

    await expect(keeper.reserve()).rejects.toThrow(/0 connections .* 2 more are about to take one/);
    const waiting = keeper.reserve();
    giveBack();
    await expect(waiting).resolves.toBeInstanceOf(Function);
  });

  it('keeps none without a place when it is full', async () => {
    const { keeper, primary, locked, keep } = bench(1);
    await keep();
    const connection = await primary.pool.acquire().promise;
    locked.add(connection);

    expect(await keeper.keep(primary, connection, false)).toBe('full');
  });

  it.each([
    ['unlocked', (locked: Set<Connection>) => locked.clear()],
    ['lost', () => undefined],
  ] as const)('hands the place of a connection on that was %s', async (how, unlock) => {
    const { keeper, locked, keep } = bench(2);
    const connection = await keep();
    await keeper.reserve();
    const waiting = keeper.reserve();
    // Whoever waits has asked by then whether one has ended.
    await new Promise(setImmediate);

    if (how === 'lost') takenAway(connection);
    await keeper.unlockWith(async () => unlock(locked));

    await expect(waiting).resolves.toBeInstanceOf(Function);
  });

  it('lets nobody wait for a place once it is destroyed', async () => {
    const { keeper, keep } = bench(2);
    await keep();
    await keeper.reserve();
    const waiting = keeper.reserve();
    await new Promise(setImmediate);

    await keeper.destroy();

    await expect(waiting).resolves.toBeInstanceOf(Function);
  });

  it('ends a connection without locks that nobody else may have', async () => {
    const { keeper, primary, locked, unfit, keep } = bench();
    const connection = await keep();
    unfit.add(connection);
    locked.delete(connection);

    await keeper.unlockWith(async () => undefined);

    expect(keeper.size).toBe(0);
    expect(await primary.pool.acquire().promise).not.toBe(connection);
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
    expect(await keeper.keep(primary, late, true)).toBe('free');
  });
});

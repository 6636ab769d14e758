import { Session } from '../../../lib/consistency/session.ts';
import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import type { Clock } from '../../../lib/clock.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import type { Connection } from '../../../lib/hosts/host.ts';
import { listenToServer, serverFacts } from '../../../lib/hosts/server-facts.ts';
import { Dispatcher } from '../../../lib/routing/dispatcher.ts';
import { LockKeeper } from '../../../lib/routing/lock-keeper.ts';
import { SessionChanges } from '../../../lib/routing/session-changes.ts';
import { SessionStates } from '../../../lib/state/session-states.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { settle } from '../../support/fake-servers.ts';
import {
  hostOf,
  makeCluster,
  makeUnseenCluster,
  names,
  takeDown,
  tellRoles,
} from '../../support/hosts.ts';

const read = { intent: 'read', proved: true, reason: 'only reads' } as const;
const write = { intent: 'write', proved: true, reason: 'is an insert' } as const;

interface Bench {
  readonly dispatcher: Dispatcher;
  readonly sessionChanges: SessionChanges;
  readonly locked: Set<Connection>;
}

function bench(cluster: Cluster, failoverMillis = 0, clock: Clock = systemClock): Bench {
  const sessionChanges = new SessionChanges(() => undefined);
  const locked = new Set<Connection>();
  const dispatcher = new Dispatcher({
    cluster,
    balancer: new RoundRobinBalancer(() => 0),
    policy: { target: 'split', fallback: 'primary', fallbackShare: 0.5 },
    clock,
    locks: new LockKeeper({
      max: 1,
      holdsLocks: async (connection) => locked.has(connection),
      isReusable: () => true,
      warn: () => undefined,
      clock: systemClock,
      waitMillis: 50,
    }),
    sessionChanges,
    states: new SessionStates(),
    onCatalogChange: () => undefined,
    acquireMillis: 1000,
    failoverMillis,
  });
  return { dispatcher, sessionChanges, locked };
}

describe('Dispatcher', () => {
  it('gives writes to the primary that the servers tell, and reads to the others', async () => {
    const cluster = makeUnseenCluster({ a: {}, b: {}, c: {} });
    tellRoles(cluster, 'c');
    const { dispatcher } = bench(cluster);

    expect((await dispatcher.lease(write)).host.name).toBe('c');
    const hosts = [await dispatcher.lease(read), await dispatcher.lease(read)];
    expect(names(hosts.map(({ host }) => host)).toSorted()).toEqual(['a', 'b']);
  });

  it('says so when no host is a primary', async () => {
    const cluster = makeUnseenCluster({ a: {}, b: {} });
    tellRoles(cluster, 'none');

    await expect(bench(cluster).dispatcher.lease(write)).rejects.toThrow(
      /No host can serve this write: a is a replica, b is a replica/,
    );
  });

  it('gives a write no idle connection to another server behind the name', async () => {
    const connections = [{}, {}];
    const create = async (): Promise<Connection> => connections.shift() ?? {};
    const cluster = makeUnseenCluster({ primary: { create, max: 1 } });
    const [wrong, right] = connections;
    if (wrong === undefined || right === undefined) throw new Error('There are two.');
    for (const connection of [wrong, right]) listenToServer(connection, () => undefined);
    Object.assign(serverFacts(wrong) ?? {}, { role: 'replica' });
    Object.assign(serverFacts(right) ?? {}, { role: 'primary' });
    tellRoles(cluster, 'primary');
    const host = hostOf(cluster, 'primary');
    host.pool.release(await host.pool.acquire().promise);
    const doubted: boolean[] = [];
    cluster.onDoubt = (_, hasMoved) => {
      doubted.push(hasMoved);
      setImmediate(() => tellRoles(cluster, 'primary'));
    };

    const lease = await bench(cluster, 1000).dispatcher.lease(write);

    expect(lease.connection).toBe(right);
    expect(doubted).toEqual([true]);
  });

  it('keeps reads without a replica to their share of the primary, writes not', async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'));
    const cluster = makeCluster({ primary: { max: 4 }, a: { create: refuse } });
    const { dispatcher } = bench(cluster);
    const held = [await dispatcher.lease(read), await dispatcher.lease(read)];

    const waiting = dispatcher.lease(read);
    const write1 = await dispatcher.lease(write);
    expect(write1.host.pool.stats).toMatchObject({ used: 3, pending: 0 });
    void held[0]?.release();

    expect((await waiting).host.name).toBe('primary');
  });

  it('gives a connection back once, however often its lease is released', async () => {
    const cluster = makeCluster({ primary: { max: 1 } });
    const { dispatcher } = bench(cluster);
    const first = await dispatcher.lease(write);

    void first.release();
    const second = await dispatcher.lease(write);
    void first.release();

    expect(second.connection).toBe(first.connection);
    expect(cluster.host('primary')?.pool.stats.used).toBe(1);
    expect(dispatcher.leaseOf(second.connection)).toBe(second);
  });

  it("does not give back a query's connection by hand", async () => {
    const { dispatcher } = bench(makeCluster({ primary: {} }));
    const lease = await dispatcher.lease(write);

    expect(dispatcher.releaseTaken(lease.connection)).toBe(false);
    expect(lease.isReleased).toBe(false);
  });

  it('closes a connection whose session was changed', async () => {
    const cluster = makeCluster({ primary: { max: 1 } });
    const { dispatcher, sessionChanges } = bench(cluster);
    const changed = await dispatcher.lease(write);

    sessionChanges.note(changed.connection, 'SET', 'set a = 1');
    void changed.release();

    expect((await dispatcher.lease(write)).connection).not.toBe(changed.connection);
  });

  it('closes a connection that is given back inside a transaction', async () => {
    const status = { getTransactionStatus: () => 'T' };
    const { dispatcher } = bench(makeCluster({ primary: { max: 1, create: async () => status } }));
    const open = await dispatcher.lease(write);

    void open.release();
    status.getTransactionStatus = () => 'I';

    expect(dispatcher.leaseOf(open.connection)).toBeUndefined();
    expect(open.host.pool.stats).toMatchObject({ used: 0, free: 0 });
  });

  it('keeps no connection that holds locks inside an open transaction', async () => {
    const open = { getTransactionStatus: () => 'T' };
    const cluster = makeCluster({ primary: { max: 1, create: async () => open } });
    const { dispatcher, locked } = bench(cluster);
    const lease = await dispatcher.lease(write);
    locked.add(open);
    lease.mayHoldLocks = true;

    await lease.release();

    expect(cluster.host('primary')?.pool.stats).toMatchObject({ used: 0, free: 0 });
  });

  it('gives back a connection taken from a pool by hand once, and no other', async () => {
    const cluster = makeCluster({ primary: { max: 1 } });
    const { dispatcher } = bench(cluster);
    const pool = cluster.host('primary')?.pool;
    const taken = (await pool?.acquire().promise) ?? {};
    const session = new Session(
      { mode: 'session', waitMillis: 0, monotonic: false, isStrict: true },
      0,
    );
    dispatcher.noteHandedOut(taken, session);

    expect(dispatcher.releaseTaken(taken)).toBe(true);
    expect(session.isUncertain).toBe(true);
    expect(await pool?.acquire().promise).toBe(taken);
    expect(dispatcher.releaseTaken(taken)).toBe(false);
  });

  it('waits for a busy connection to say how it was left', async () => {
    const busy = Object.assign(new EventEmitter(), {
      readyForQuery: false,
      getTransactionStatus: () => 'I',
    });
    const cluster = makeCluster({ primary: { max: 1, create: async () => busy } });
    const { dispatcher } = bench(cluster);
    void (await dispatcher.lease(write)).release();
    expect(cluster.host('primary')?.pool.stats).toMatchObject({ used: 1, free: 0 });

    Object.assign(busy, { readyForQuery: true, getTransactionStatus: () => 'E' });
    busy.emit('drain');
    await turn();

    expect(cluster.host('primary')?.pool.stats).toMatchObject({ used: 0, free: 0 });
    expect(busy.listenerCount('drain') + busy.listenerCount('end')).toBe(0);
  });

  it('keeps a connection that holds locks out of its pool', async () => {
    const cluster = makeCluster({ primary: { max: 1 } });
    const { dispatcher, locked } = bench(cluster);
    const lease = await dispatcher.lease(write);

    locked.add(lease.connection);
    lease.mayHoldLocks = true;
    await lease.release();

    expect((await dispatcher.lease(write)).connection).not.toBe(lease.connection);
  });

  it('goes on with a lease on another host, and gives the first connection back', async () => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const { dispatcher } = bench(cluster);
    const lease = await dispatcher.lease(read);
    const { connection: replicas } = lease;
    const primary = await dispatcher.acquire(write);

    dispatcher.move(lease, primary);

    expect(lease.host.name).toBe('primary');
    expect(dispatcher.leaseOf(primary.connection)).toBe(lease);
    expect(dispatcher.leaseOf(replicas)).toBeUndefined();
    expect(cluster.host('a')?.pool.stats.used).toBe(0);
  });

  it('leaves a query what time it has not waited', async () => {
    const clock = new FakeClock();
    const cluster = makeCluster({ primary: { max: 1 } }, { clock });
    const { dispatcher } = bench(cluster, 0, clock);
    const first = await dispatcher.lease(write);
    const waiting = dispatcher.lease(write);

    clock.advance(300);
    void first.release();
    const second = await waiting;
    void second.release();
    const atOnce = dispatcher.lease(write);

    const left = [first, second, await atOnce].map(({ acquireMillisLeft }) => acquireMillisLeft);
    expect(left).toEqual([1000, 700, 1000]);
  });

  it.each(['lease', 'acquire'] as const)('lets %s wait no longer than it may', async (method) => {
    const clock = new FakeClock();
    const cluster = makeCluster({ primary: {}, a: {} }, { clock });
    takeDown(cluster, 'primary');
    let outcome = 'waits';
    Promise.resolve(bench(cluster, 60_000, clock).dispatcher[method](write)).catch(
      (error: unknown) => (outcome = String(error)),
    );
    await settle();

    clock.advance(999);
    await settle();
    expect(outcome).toBe('waits');
    clock.advance(1);
    await settle();

    expect(outcome).toMatch(/No host can serve this write/);
  });
});

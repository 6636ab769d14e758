import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { HostRole } from '../../../lib/events.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import type { Connection } from '../../../lib/hosts/host.ts';
import { Dispatcher } from '../../../lib/routing/dispatcher.ts';
import { LockKeeper } from '../../../lib/routing/lock-keeper.ts';
import { SessionChanges } from '../../../lib/routing/session-changes.ts';
import { makeCluster } from '../../support/hosts.ts';

const read = { intent: 'read', proved: true, reason: 'only reads' } as const;
const write = { intent: 'write', proved: true, reason: 'is an insert' } as const;

interface Bench {
  readonly dispatcher: Dispatcher;
  readonly sessionChanges: SessionChanges;
  readonly locked: Set<Connection>;
}

function bench(cluster: Cluster): Bench {
  const sessionChanges = new SessionChanges(() => undefined);
  const locked = new Set<Connection>();
  const dispatcher = new Dispatcher({
    cluster,
    balancer: new RoundRobinBalancer(() => 0),
    policy: { target: 'split', fallback: 'primary', fallbackShare: 0.5 },
    clock: systemClock,
    locks: new LockKeeper({
      max: 1,
      holdsLocks: async (connection) => locked.has(connection),
      isSpoilt: () => false,
      warn: () => undefined,
      clock: systemClock,
      waitMillis: 50,
    }),
    sessionChanges,
    onCatalogChange: () => undefined,
    acquireMillis: 1000,
  });
  return { dispatcher, sessionChanges, locked };
}

/** A cluster whose servers tell their role when a connection opens, as PostgreSQL does. */
function clusterOf(roles: Readonly<Record<string, HostRole>>): Cluster {
  const tell = (name: string, role: HostRole) => async (): Promise<Connection> => {
    const host = cluster.host(name);
    if (host !== undefined) cluster.observeRole(host, role);
    return {};
  };
  const sketches = Object.entries(roles).map(([name, role]) => [
    name,
    { create: tell(name, role) },
  ]);
  const cluster = makeCluster(Object.fromEntries(sketches));
  return cluster;
}

describe('Dispatcher', () => {
  it('finds the primary among hosts of unknown roles', async () => {
    const cluster = clusterOf({ a: 'replica', b: 'replica', c: 'primary' });

    const lease = await bench(cluster).dispatcher.lease(write);

    expect(lease.host.name).toBe('c');
  });

  it('does not read from a host that turns out to be the primary', async () => {
    const cluster = clusterOf({ a: 'replica', b: 'primary', c: 'replica' });
    const { dispatcher } = bench(cluster);

    const hosts = new Set<string>();
    for (let i = 0; i < 4; i++) hosts.add((await dispatcher.lease(read)).host.name);

    expect([...hosts].toSorted()).toEqual(['a', 'c']);
    expect(cluster.host('b')?.pool.stats.used).toBe(0);
  });

  it('says so when no host is a primary', async () => {
    const cluster = clusterOf({ a: 'replica', b: 'replica' });

    await expect(bench(cluster).dispatcher.lease(write)).rejects.toThrow(
      /No host can serve this write: a is a replica, b is a replica/,
    );
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
    dispatcher.noteHandedOut(taken);

    expect(dispatcher.releaseTaken(taken)).toBe(true);
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

    dispatcher.move(lease, primary.host, primary.connection);

    expect(lease.host.name).toBe('primary');
    expect(dispatcher.leaseOf(primary.connection)).toBe(lease);
    expect(dispatcher.leaseOf(replicas)).toBeUndefined();
    expect(cluster.host('a')?.pool.stats.used).toBe(0);
  });
});

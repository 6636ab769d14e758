import { describe, expect, it } from '@jest/globals';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import type { Host } from '../../../lib/hosts/host.ts';
import { ConnectionFinder } from '../../../lib/routing/connection-finder.ts';
import { PoolFullError } from '../../../lib/routing/pool-full.ts';
import { mustWaitInPool, waitInPool } from '../../../lib/routing/wait-in-pool.ts';
import { SessionStates } from '../../../lib/state/session-states.ts';
import { settle } from '../../support/fake-servers.ts';
import { hostOf, makeCluster, makeUnseenCluster, tellRoles } from '../../support/hosts.ts';

const read = { intent: 'read', proved: true, reason: 'only reads' } as const;

function bench(cluster: Cluster, acquireMillis = 1000) {
  const parts = {
    cluster,
    balancer: new RoundRobinBalancer(() => 0),
    policy: { target: 'split', fallback: 'primary', fallbackShare: 0.5 } as const,
    clock: systemClock,
    failoverMillis: 0,
    states: new SessionStates(),
    acquireMillis,
  };
  const finder = new ConnectionFinder(parts);
  const decided = finder.route(read);
  return {
    mustWait: (host: Host) => mustWaitInPool(host, decided, read, parts),
    wait: (host: Host) => waitInPool(host, decided, read, parts, finder),
  };
}

/** Takes all connections of a host. */
async function fill({ pool }: Host): Promise<readonly object[]> {
  const taken = Array.from({ length: pool.maximum }, () => pool.acquireWithin(1000).promise);
  return Promise.all(taken);
}

describe('mustWaitInPool', () => {
  it('is so where the pool is full, and no other has room', async () => {
    const cluster = makeCluster({ primary: {}, a: {}, b: {} });
    const [a, b] = [hostOf(cluster, 'a'), hostOf(cluster, 'b')];
    const { mustWait } = bench(cluster);
    expect(mustWait(a)).toBe(false);

    await fill(a);
    expect(mustWait(a)).toBe(false);
    await fill(b);
    expect(mustWait(a)).toBe(true);
  });

  it('is not so while its server has no connection left', async () => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const a = hostOf(cluster, 'a');
    await fill(a);

    a.pool.gate.rest(new Error('sorry, too many clients already'));

    expect(bench(cluster).mustWait(a)).toBe(false);
  });

  it('is not so before each host was looked at', async () => {
    const cluster = makeUnseenCluster({ primary: {}, a: {} });
    const a = hostOf(cluster, 'a');
    await fill(a);

    expect(bench(cluster).mustWait(a)).toBe(false);
  });
});

describe('waitInPool', () => {
  it('brings the connection that is given back first', async () => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const a = hostOf(cluster, 'a');
    const [first = {}] = await fill(a);
    const waiting = bench(cluster).wait(a);

    a.pool.release(first);

    expect(await waiting).toBe(first);
    expect(a.pool.stats.used).toBe(2);
  });

  it('says so where none is given back in time', async () => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const a = hostOf(cluster, 'a');
    await fill(a);

    await expect(bench(cluster, 20).wait(a)).rejects.toThrow(PoolFullError);
    expect(a.pool.stats.pending).toBe(0);
  });

  it.each<[string, (host: Host) => void]>([
    ['its server has no connection left', ({ pool }) => pool.gate.rest(new Error('too many'))],
    ['the host goes out of use', ({ pool }) => pool.turnAway()],
  ])('ends where %s', async (_, happen) => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const a = hostOf(cluster, 'a');
    await fill(a);
    const waiting = bench(cluster).wait(a);
    await settle();

    happen(a);

    expect(await waiting).toBeUndefined();
  });

  it('gives back the connection of a host that may serve no more', async () => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const a = hostOf(cluster, 'a');
    const [first = {}] = await fill(a);
    const waiting = bench(cluster).wait(a);
    tellRoles(cluster, 'a');
    a.exclusion = 'fenced';

    a.pool.release(first);

    expect(await waiting).toBeUndefined();
    expect(a.pool.stats.used).toBe(1);
  });
});

import { describe, expect, it } from '@jest/globals';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import { systemClock } from '../../../lib/clock.ts';
import { NoHostAvailableError } from '../../../lib/errors.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import type { Host } from '../../../lib/hosts/host.ts';
import { acquire } from '../../../lib/routing/acquire.ts';
import { PoolFullError } from '../../../lib/routing/pool-full.ts';
import type { Acquired, AcquireParts } from '../../../lib/routing/acquire.ts';
import { FallbackShare, NeedlessWait } from '../../../lib/routing/fallback-share.ts';
import { route } from '../../../lib/routing/router.ts';
import { settle } from '../../support/fake-servers.ts';
import { hostOf, makeCluster, names, takeDown } from '../../support/hosts.ts';
import { makeRoute } from '../../support/route.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), {
  code: 'ECONNREFUSED',
  syscall: 'connect',
});
const refuse = (): Promise<never> => Promise.reject(refused);
const never = (): Promise<never> => new Promise(() => undefined);

async function read(
  cluster: Cluster,
  millis = 1000,
  { chosen, ...more }: Partial<AcquireParts> & { readonly chosen?: Host } = {},
): Promise<Acquired> {
  const request = { intent: 'read', proved: true, reason: 'only reads' } as const;
  const decided = route(request, cluster.routable, { target: 'split', fallback: 'primary' });
  const balancer = new RoundRobinBalancer(() => 0);
  return acquire(decided, { cluster, balancer, clock: systemClock, ...more }, millis, chosen);
}

async function reads(cluster: Cluster, times: number): Promise<readonly string[]> {
  const taken = await Promise.all(Array.from({ length: times }, () => read(cluster)));
  return names(taken.map(({ host }) => host)).toSorted();
}

describe('acquire', () => {
  it('uses the room of other hosts before it waits', async () => {
    const cluster = makeCluster({ primary: {}, a: { max: 1 }, b: { max: 3 } });

    expect(await reads(cluster, 4)).toEqual(['a', 'b', 'b', 'b']);
  });

  it('passes over a host that cannot be reached', async () => {
    const cluster = makeCluster({ primary: {}, a: { create: refuse }, b: { max: 4 } });

    expect(await reads(cluster, 4)).toEqual(['b', 'b', 'b', 'b']);
    expect(cluster.host('a')).toMatchObject({ lastError: refused });
  });

  it('falls back when no replica can be reached', async () => {
    const cluster = makeCluster({ primary: {}, a: { create: refuse }, b: { create: refuse } });

    expect((await read(cluster)).host.name).toBe('primary');
  });

  it('names each host and its own cause when none can be reached', async () => {
    const cluster = makeCluster({ primary: { create: refuse }, a: { create: refuse } });

    const error = await read(cluster).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(NoHostAvailableError);
    expect(error).toMatchObject({
      code: 'RWSPLIT_NO_HOST',
      cause: refused,
      hosts: [
        { name: 'primary', state: 'unreachable', lastError: refused },
        { name: 'a', state: 'unreachable', lastError: refused },
      ],
    });
  });

  it("lets a server's own answer through where only that server was asked", async () => {
    const wrongPassword = Object.assign(new Error('password authentication failed'), {
      code: '28P01',
      severity: 'FATAL',
    });
    const cluster = makeCluster({ primary: { create: () => Promise.reject(wrongPassword) } });

    await expect(read(cluster)).rejects.toBe(wrongPassword);
  });

  it('says that the pool is full, and how, when every connection stays in use', async () => {
    const cluster = makeCluster({ primary: {}, a: { max: 1 } });
    await read(cluster);

    const error = await read(cluster, 20).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(PoolFullError);
    expect((error as Error).message).toMatch(/of a .*1 used, 0 free, \d pending, max 1/);
    expect(cluster.host('a')?.lastError).toBeUndefined();
  });

  it('says that a host is unreachable, not full, when no connection opens in time', async () => {
    const cluster = makeCluster({ primary: { create: never } });

    await expect(read(cluster, 20)).rejects.toThrow(/primary unreachable \(no connection within/);
  });

  it('leaves time for another host when one never opens', async () => {
    const cluster = makeCluster({ primary: {}, a: { create: never }, b: {} });

    expect(await reads(cluster, 2)).toEqual(['b', 'b']);
  });

  it('lets through what the application itself throws, or all servers answer', async () => {
    const error = Object.assign(new Error('the vault is sealed'), { code: 'VAULT' });
    const fail = { create: () => Promise.reject(error) };

    await expect(read(makeCluster({ primary: fail, a: fail }))).rejects.toBe(error);
  });

  it('spends one budget on all hosts together', async () => {
    const cluster = makeCluster({ primary: { create: never }, a: { create: never } });

    await expect(read(cluster, 40)).rejects.toThrow(
      /primary unreachable \(no connection within \d+ ms\), a unreachable \(no connection within 20 ms\)/,
    );
  });

  it('tries the host that was picked already once, and then the others', async () => {
    const tried: string[] = [];
    const refuseAs = (name: string) => (): Promise<never> => {
      tried.push(name);
      return refuse();
    };
    const cluster = makeCluster({
      primary: {},
      a: { create: refuseAs('a') },
      b: { create: refuseAs('b') },
    });
    const chosen = hostOf(cluster, 'b');

    expect((await read(cluster, 1000, { chosen })).host.name).toBe('primary');

    expect(tried).toEqual(['b', 'a']);
  });

  it('falls back to no host that was picked among others', async () => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const [primary, a] = [hostOf(cluster, 'primary'), hostOf(cluster, 'a')];
    const parts = { cluster, balancer: new RoundRobinBalancer(() => 0), clock: systemClock };

    const taken = await acquire(makeRoute({ fallback: [primary] }), parts, 1000, a);

    expect(taken.host).toBe(primary);
  });

  it('waits for a full pool to the end, whatever other hosts there are', async () => {
    const cluster = makeCluster({ primary: {}, a: { max: 1 }, b: { max: 1 } });
    const [first] = await Promise.all([read(cluster), read(cluster)]);
    const chosen = first.host;

    const waiting = read(cluster, 900, { chosen });
    // More than a share of the time of three.
    setTimeout(() => first.host.pool.release(first.connection), 400);

    expect((await waiting).connection).toBe(first.connection);
  });

  it('gives a pool that is dialling no more than its share of the time', async () => {
    const cluster = makeCluster({ primary: {}, a: { create: never } });

    expect((await read(cluster, 300)).host.name).toBe('primary');
  });

  it('gives each who meets a server without a connection left an error of its own', async () => {
    const full = Object.assign(new Error('sorry, too many clients already'), {
      code: '53300',
      severity: 'FATAL',
    });
    const cluster = makeCluster({ primary: { create: () => Promise.reject(full) } });
    hostOf(cluster, 'primary').pool.gate.rest(full);

    const errors = await Promise.all(
      [1, 2].map(() => read(cluster, 30).catch((caught: unknown) => caught)),
    );

    expect(errors).toMatchObject([1, 2].map(() => ({ message: full.message, code: '53300' })));
    expect(new Set([full, ...errors]).size).toBe(3);
    expect(cluster.host('primary')).toMatchObject({ health: { state: 'up' } });
  });

  it('waits no longer for such a server than it may, but as long for one that is busy', async () => {
    const full = Object.assign(new Error('too many clients'), { code: '53300', severity: 'FATAL' });
    const cluster = makeCluster({ primary: { max: 1 } });
    const { gate } = hostOf(cluster, 'primary').pool;
    gate.rest(full);

    await expect(read(cluster, 5000, { refusedMillis: 20 })).rejects.toThrow('too many clients');

    gate.release();
    const held = await read(cluster);
    const waiting = read(cluster, 5000, { refusedMillis: 20 });
    setTimeout(() => held.host.pool.release(held.connection), 60);
    expect((await waiting).connection).toBe(held.connection);
  });

  it('sends those on who waited for a host that went out of use', async () => {
    const cluster = makeCluster({ primary: {}, a: { max: 1 } });
    await read(cluster);
    const waiting = read(cluster);

    hostOf(cluster, 'a').pool.turnAway();

    expect((await waiting).host.name).toBe('primary');
  });

  it('goes on waiting for its share of the primary where replicas have failed it', async () => {
    const cluster = makeCluster({ primary: { max: 2 }, a: { create: refuse } });
    const [primary, a] = [hostOf(cluster, 'primary'), hostOf(cluster, 'a')];
    const share = new FallbackShare(0.5, systemClock);
    const balancer = new RoundRobinBalancer(() => 0);
    const parts = { cluster, balancer, clock: systemClock, share };
    const both = makeRoute({ hosts: [a], fallback: [primary] });
    const held = await acquire(both, parts, 1000);
    const waiting = acquire(both, parts, 1000);
    await settle();

    share.dismiss();
    await settle();
    held.leave?.();

    expect((await waiting).host.name).toBe('primary');
  });

  it('does not wait for a share of the primary any longer where replicas serve again', async () => {
    const cluster = makeCluster({ primary: { max: 2 }, a: {} });
    takeDown(cluster, 'a');
    const share = new FallbackShare(0.5, systemClock);
    await read(cluster, 1000, { share });
    const waiting = read(cluster, 1000, { share });

    setImmediate(() => share.dismiss());

    await expect(waiting).rejects.toBeInstanceOf(NeedlessWait);
  });
});

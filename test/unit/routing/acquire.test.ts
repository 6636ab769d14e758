import { describe, expect, it } from '@jest/globals';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import { systemClock } from '../../../lib/clock.ts';
import { NoHostAvailableError } from '../../../lib/errors.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import { acquire, PoolFullError } from '../../../lib/routing/acquire.ts';
import type { Acquired } from '../../../lib/routing/acquire.ts';
import { route } from '../../../lib/routing/router.ts';
import { makeCluster, names } from '../../support/hosts.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), {
  code: 'ECONNREFUSED',
  syscall: 'connect',
});
const refuse = (): Promise<never> => Promise.reject(refused);
const never = (): Promise<never> => new Promise(() => undefined);

async function read(cluster: Cluster, millis = 1000): Promise<Acquired> {
  const request = { intent: 'read', proved: true, reason: 'only reads' } as const;
  const decided = route(request, cluster.routable, { target: 'split', fallback: 'primary' });
  const balancer = new RoundRobinBalancer(() => 0);
  return acquire(decided, { cluster, balancer, clock: systemClock }, millis);
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
});

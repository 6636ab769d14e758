import { describe, expect, it } from '@jest/globals';
import type { HostRoleEvent } from '../../../lib/events.ts';
import { RWSplitEmitter } from '../../../lib/events.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import { hostSettings, makeCluster, names } from '../../support/hosts.ts';

function roles({ routable }: Cluster): { primary: readonly string[]; replicas: readonly string[] } {
  return { primary: names(routable.primary), replicas: names(routable.replicas) };
}

function observe(cluster: Cluster, name: string, role: 'primary' | 'replica'): void {
  const host = cluster.host(name);
  if (host !== undefined) cluster.observeRole(host, role);
}

describe('Cluster', () => {
  it('believes the configuration until a server says otherwise', () => {
    const cluster = makeCluster({ a: {}, b: {} });

    expect(roles(cluster)).toEqual({ primary: ['a'], replicas: ['b'] });
    observe(cluster, 'b', 'primary');
    observe(cluster, 'a', 'replica');
    expect(roles(cluster)).toEqual({ primary: ['b'], replicas: ['a'] });
  });

  it('prefers a primary that said so to one that is presumed', () => {
    const cluster = makeCluster({ a: {}, b: {} });

    observe(cluster, 'b', 'primary');

    expect(roles(cluster)).toEqual({ primary: ['b'], replicas: ['a'] });
  });

  it('has one primary where two say so: the first of the configuration', () => {
    const cluster = makeCluster({ a: {}, b: {} });

    observe(cluster, 'b', 'primary');
    observe(cluster, 'a', 'primary');

    expect(roles(cluster)).toEqual({ primary: ['a'], replicas: [] });
  });

  it('tells of a role that differs from what was believed', () => {
    const events = new RWSplitEmitter();
    const told: HostRoleEvent[] = [];
    events.on('host:role', (event) => told.push(event));
    const cluster = makeCluster({ a: {}, b: {} }, { events });

    observe(cluster, 'a', 'primary');
    observe(cluster, 'b', 'primary');

    expect(told).toEqual([{ host: 'b', role: 'primary', was: 'replica' }]);
  });

  it('leaves a draining host out of everything', () => {
    const cluster = makeCluster({ a: {}, b: {}, c: {} });
    const drain = (name: string, isDraining: boolean): void => {
      const host = cluster.host(name);
      if (host !== undefined) cluster.setDraining(host, isDraining);
    };

    drain('b', true);
    expect(roles(cluster)).toEqual({ primary: ['a'], replicas: ['c'] });
    drain('a', true);
    expect(roles(cluster).primary).toEqual([]);
    drain('b', false);
    expect(names(cluster.routable.usable)).toEqual(['b', 'c']);
  });

  it('keeps the same lists until something changes', () => {
    const cluster = makeCluster({ a: {}, b: {} });
    observe(cluster, 'b', 'replica');
    const { routable } = cluster;

    observe(cluster, 'b', 'replica');

    expect(cluster.routable).toBe(routable);
  });

  it('ranks the replicas, whichever of its hosts turned out to be one', () => {
    const cluster = makeCluster({ a: {}, b: {}, c: {} });
    observe(cluster, 'b', 'primary');

    const places = cluster.hosts.map(({ name, order }) => [name, order]);

    expect(places).toEqual([
      ['a', 0],
      ['b', Number.MAX_SAFE_INTEGER],
      ['c', 1],
    ]);
  });

  it("weighs the primary by its role, and a replica by its host's own weight", () => {
    const sketch = { weight: 3, primaryReads: 0.5 };
    const cluster = makeCluster({ a: sketch, b: sketch }, { primaryReads: true });
    const weights = (): readonly number[] => cluster.hosts.map(({ weight }) => weight);

    expect(weights()).toEqual([0.5, 3]);
    observe(cluster, 'b', 'primary');
    observe(cluster, 'a', 'replica');
    expect(weights()).toEqual([3, 0.5]);
  });

  it('takes in replicas that become known later', () => {
    const cluster = makeCluster({ a: {} });

    expect(() => cluster.addReplicas([hostSettings('b')])).not.toThrow();

    expect(roles(cluster).replicas).toEqual(['b']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { without } from '../../../lib/routing/without.ts';
import { makeCluster, names } from '../../support/hosts.ts';
import { makeRoute } from '../../support/route.ts';

describe('without', () => {
  it('leaves out the hosts that were tried, wherever they stand', () => {
    const { hosts } = makeCluster({ a: {}, b: {}, c: {}, d: {} });
    const [a, b, c, d] = hosts;
    const route = makeRoute({
      hosts: [b, c].filter((host) => host !== undefined),
      fallback: [a, b].filter((host) => host !== undefined),
      lastResort: [d, b].filter((host) => host !== undefined),
    });

    const left = without(route, new Set(hosts.slice(1, 2)));

    expect([left.hosts, left.fallback, left.lastResort].map(names)).toEqual([['c'], ['a'], ['d']]);
    expect({ ...left, hosts: [], fallback: [], lastResort: [] }).toEqual(makeRoute());
  });

  it('is the route itself where none was tried', () => {
    const route = makeRoute();

    expect(without(route, undefined)).toBe(route);
  });
});

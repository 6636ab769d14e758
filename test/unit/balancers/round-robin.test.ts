import { describe, expect, it } from '@jest/globals';
import type { HostView, NonEmpty } from '../../../lib/balancers/balancer.ts';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import { hostView, picks, tally } from '../../support/host-view.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const [a, b, c, d] = [hostView('a'), hostView('b'), hostView('c'), hostView('d')];
const seeds = Array.from({ length: 20 }, (_, seed) => seed);

function balancer(seed = 1): RoundRobinBalancer {
  return new RoundRobinBalancer(seededRandom(seed));
}

function spread(counts: Record<string, number>): number {
  return Math.max(...Object.values(counts)) - Math.min(...Object.values(counts));
}

function weighted(weights: Record<string, number>): NonEmpty<HostView> {
  const [first, ...rest] = Object.entries(weights).map(([name, weight]) =>
    hostView(name, { weight }),
  );
  return [first ?? a, ...rest];
}

describe('RoundRobinBalancer', () => {
  it('takes equal hosts in turn', () => {
    const [turn, ...more] = picks(balancer(), [a, b, c], 30).match(/.{3}/g) ?? [];

    expect(new Set(turn).size).toBe(3);
    expect(new Set(more)).toEqual(new Set([turn]));
  });

  it.each(seeds)(
    'gives equal hosts the same share of 10,000 picks, give or take one (seed %i)',
    (seed) => {
      expect(spread(tally(balancer(seed), [a, b, c], 10_000))).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    ['3:1', { a: 3, b: 1 }],
    ['5:1:1', { a: 5, b: 1, c: 1 }],
    ['2:3:7:11', { a: 2, b: 3, c: 7, d: 11 }],
    ['0.5:0.25', { a: 0.5, b: 0.25 }],
    ['100:1', { a: 100, b: 1 }],
  ])(
    'gives hosts of weights %s their share within one turn',
    (_, weights: Record<string, number>) => {
      const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);

      const counts = tally(balancer(), weighted(weights), 10_000);

      for (const [name, weight] of Object.entries(weights)) {
        expect(Math.abs((counts[name] ?? 0) - (10_000 * weight) / total)).toBeLessThan(2);
      }
    },
  );

  it.each(seeds)('spreads the turns of a heavy host between the others (seed %i)', (seed) => {
    const names = picks(balancer(seed), weighted({ a: 4, b: 1, c: 1 }), 600);

    expect(names).not.toMatch(/a{6}/);
  });

  it('starts different processes at different hosts', () => {
    const starts = seeds.map((seed) => balancer(seed).pick([a, b, c]).name);

    expect(new Set(starts)).toEqual(new Set(['a', 'b', 'c']));
  });

  it.each(seeds)(
    'spreads the share of a host that leaves evenly over the rest (seed %i)',
    (seed) => {
      const roundRobin = balancer(seed);
      picks(roundRobin, [a, b, c, d], 1001);

      expect(spread(tally(roundRobin, [a, b, d], 10_000))).toBeLessThanOrEqual(1);
    },
  );

  it.each(seeds)('owes a host that comes back one turn at most (seed %i)', (seed) => {
    const roundRobin = balancer(seed);
    picks(roundRobin, [a, b, c], 10);
    picks(roundRobin, [a, b], 1000);

    const names = picks(roundRobin, [a, b, c], 30);

    expect(names).not.toMatch(/ccc/);
    expect(names.match(/c/g)?.length).toBeLessThanOrEqual(11);
  });

  it.each(seeds)('stays fair while hosts come and go all the time (seed %i)', (seed) => {
    const roundRobin = balancer(seed);
    const random = seededRandom(seed + 100);
    const counts: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };

    for (let i = 0; i < 12_000; i++) {
      const away = Math.floor(random() * 4);
      const [first, ...rest] = [a, b, c, d].filter(({ order }) => order !== away);
      const { name } = roundRobin.pick([first ?? a, ...rest]);
      counts[name] = (counts[name] ?? 0) + 1;
    }

    for (const count of Object.values(counts)) expect(Math.abs(count - 3000)).toBeLessThan(60);
  });

  it('follows a weight that ramps up at once', () => {
    const roundRobin = balancer();
    tally(roundRobin, weighted({ a: 1, b: 0.001 }), 5000);

    const counts = tally(roundRobin, weighted({ a: 1, b: 1 }), 100);

    expect(spread(counts)).toBeLessThanOrEqual(2);
  });

  it('keeps separate clusters apart', () => {
    const hosts = [a, b, c] as const;
    const [first, second] = [balancer(), balancer()];

    const start = first.pick(hosts);

    expect(second.pick(hosts)).toBe(start);
  });
});

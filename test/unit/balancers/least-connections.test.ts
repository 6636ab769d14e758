import { describe, expect, it } from '@jest/globals';
import { LeastConnectionsBalancer } from '../../../lib/balancers/least-connections.ts';
import { hostView, tally } from '../../support/host-view.ts';
import { seededRandom } from '../../support/seeded-random.ts';

function balancer(): LeastConnectionsBalancer {
  return new LeastConnectionsBalancer(seededRandom(1));
}

/** Sends `total` queries, each of which takes as many ticks as its host needs. */
function simulate(ticksOf: Record<string, number>, total: number): Record<string, number> {
  const leastConnections = balancer();
  const served: Record<string, number> = {};
  let running: { name: string; endsAt: number }[] = [];

  for (let tick = 0; tick < total; tick++) {
    running = running.filter(({ endsAt }) => endsAt > tick);
    const [first, ...rest] = Object.keys(ticksOf).map((name) =>
      hostView(name, { inFlight: running.filter((query) => query.name === name).length }),
    );
    const { name } = leastConnections.pick([first ?? hostView('a'), ...rest]);
    served[name] = (served[name] ?? 0) + 1;
    running.push({ name, endsAt: tick + (ticksOf[name] ?? 0) });
  }
  return served;
}

describe('LeastConnectionsBalancer', () => {
  it.each([
    ['the fewest queries in flight', [3, 1, 2], [1, 1, 1], 'b'],
    ['the fewest for its weight', [3, 2, 2], [3, 1, 1], 'a'],
    ['an idle host before a heavy one', [1, 0, 1], [100, 1, 1], 'b'],
    ['a busy host before an idle one of weight 0', [9, 8, 0], [1, 1, 0], 'b'],
    ['the least busy where every weight is 0', [2, 3, 1], [0, 0, 0], 'c'],
  ])('takes the host with %s', (_, [x = 0, y = 0, z = 0], [v = 1, w = 1, u = 1], expected) => {
    const hosts = [
      hostView('a', { inFlight: x, weight: v }),
      hostView('b', { inFlight: y, weight: w }),
      hostView('c', { inFlight: z, weight: u }),
    ] as const;

    expect(balancer().pick(hosts).name).toBe(expected);
  });

  it('rotates between equally busy hosts, by weight', () => {
    const hosts = [hostView('a', { weight: 2 }), hostView('b'), hostView('c')] as const;

    expect(tally(balancer(), hosts, 400)).toEqual({ a: 200, b: 100, c: 100 });
  });

  it('rotates between the rest evenly while one is busy', () => {
    const busy = hostView('b', { inFlight: 5 });

    const counts = tally(balancer(), [hostView('a'), busy, hostView('c'), hostView('d')], 300);

    expect(counts).toEqual({ a: 100, b: 0, c: 100, d: 100 });
  });

  it('sends a slow host the smaller part', () => {
    const served = simulate({ a: 4, b: 40, c: 4 }, 3000);

    expect(served['b']).toBeLessThan(300);
    expect(Math.abs((served['a'] ?? 0) - (served['c'] ?? 0))).toBeLessThan(150);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { HostView, NonEmpty } from '../../../lib/balancers/balancer.ts';
import { LeastLatencyBalancer } from '../../../lib/balancers/least-latency.ts';
import { hostView, tally } from '../../support/host-view.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** Never explores. */
function steady(): LeastLatencyBalancer {
  return new LeastLatencyBalancer(() => 0.999);
}

describe('LeastLatencyBalancer', () => {
  it.each<[string, NonEmpty<HostView>, string]>([
    [
      'the fastest',
      [hostView('a', { latencyMillis: 50 }), hostView('b', { latencyMillis: 4 })],
      'b',
    ],
    [
      'the faster one by expectation, when the fastest is busy',
      [hostView('a', { latencyMillis: 3, inFlight: 2 }), hostView('b', { latencyMillis: 12 })],
      'b',
    ],
    [
      'the faster one of two idle ones, though the other is heavier',
      [hostView('a', { latencyMillis: 5 }), hostView('b', { latencyMillis: 20, weight: 2 })],
      'a',
    ],
    [
      'the heavier of equally fast and equally busy ones',
      [
        hostView('a', { latencyMillis: 5, inFlight: 2 }),
        hostView('b', { latencyMillis: 5, inFlight: 2, weight: 2 }),
      ],
      'b',
    ],
    ['an unseen one, to learn', [hostView('a', { latencyMillis: 1 }), hostView('b')], 'b'],
    [
      'a known one, while the first answer of an unseen one is awaited',
      [hostView('a', { latencyMillis: 500, inFlight: 9 }), hostView('b', { inFlight: 1 })],
      'a',
    ],
    [
      'a slow one before a fast one of weight 0',
      [hostView('a', { latencyMillis: 1, weight: 0 }), hostView('b', { latencyMillis: 90 })],
      'b',
    ],
  ])('takes %s', (_, hosts, expected) => {
    expect(steady().pick(hosts).name).toBe(expected);
  });

  it('gives hosts turns by weight whose latencies differ by no more than chance', () => {
    const hosts = [
      hostView('a', { latencyMillis: 5 }),
      hostView('b', { latencyMillis: 14, weight: 2 }),
      hostView('c', { latencyMillis: 16, weight: 9 }),
    ] as const;

    expect(tally(steady(), hosts, 300)).toEqual({ a: 100, b: 200, c: 0 });
  });

  it('takes unseen hosts in turn while none has answered', () => {
    const hosts = [hostView('a', { inFlight: 1 }), hostView('b', { inFlight: 1 })] as const;

    expect(tally(steady(), hosts, 10)).toEqual({ a: 5, b: 5 });
  });

  it('explores every slow host with a small share of the queries', () => {
    const hosts = [
      hostView('a', { latencyMillis: 900 }),
      hostView('b', { latencyMillis: 1 }),
      hostView('c', { latencyMillis: 900 }),
    ] as const;

    const counts = tally(new LeastLatencyBalancer(seededRandom(3)), hosts, 10_000);

    expect(counts['a']).toBeGreaterThan(100);
    expect(counts['c']).toBeGreaterThan(100);
    expect((counts['a'] ?? 0) + (counts['c'] ?? 0)).toBeLessThan(400);
  });

  it('finds a host that is fast again', () => {
    const balancer = new LeastLatencyBalancer(seededRandom(3));
    const latency: Record<string, number> = { a: 5, b: 500 };
    const counts: Record<string, number> = { a: 0, b: 0 };

    for (let i = 0; i < 1000; i++) {
      const { name } = balancer.pick([
        hostView('a', { latencyMillis: latency['a'] ?? 0 }),
        hostView('b', { latencyMillis: latency['b'] ?? 0 }),
      ]);
      counts[name] = (counts[name] ?? 0) + 1;
      latency[name] = (latency[name] ?? 0) * 0.7 + (name === 'a' ? 5 : 1) * 0.3;
    }

    expect(counts['b']).toBeGreaterThan(300);
  });
});

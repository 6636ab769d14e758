import { describe, expect, it } from '@jest/globals';
import { ShuffleBalancer } from '../../../lib/balancers/shuffle.ts';
import { hostView, picks, tally } from '../../support/host-view.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const PICKS = 10_000;

describe('ShuffleBalancer', () => {
  it.each([
    ['1:1:1', [1, 1, 1]],
    ['3:1', [3, 1]],
    ['0.1:0.7:0.2', [0.1, 0.7, 0.2]],
    ['1:0:1', [1, 0, 1]],
  ])('gives hosts of weights %s their share of 10,000 picks within 4 σ', (_, weights) => {
    const [first, ...rest] = weights.map((weight, i) => hostView('abc'.charAt(i), { weight }));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const hosts = [first ?? hostView('a'), ...rest] as const;

    const counts = tally(new ShuffleBalancer(seededRandom(7)), hosts, PICKS);

    for (const { name, weight } of hosts) {
      const chance = weight / total;
      const sigma = Math.sqrt(PICKS * chance * (1 - chance));
      expect(Math.abs((counts[name] ?? 0) - PICKS * chance)).toBeLessThanOrEqual(4 * sigma);
    }
  });

  it('draws independently of the pick before', () => {
    const names = picks(
      new ShuffleBalancer(seededRandom(7)),
      [hostView('a'), hostView('b')],
      PICKS,
    );
    const repeats = names.match(/(?<=a)a|(?<=b)b/g)?.length ?? 0;

    expect(Math.abs(repeats - PICKS / 2)).toBeLessThan(4 * Math.sqrt(PICKS / 4));
  });

  it.each([
    [0, 'b'],
    [0.249, 'b'],
    [0.25, 'c'],
    [1 - 2 ** -53, 'c'],
  ])('maps the random number %d to %s of b:1 c:3', (random, expected) => {
    const hosts = [
      hostView('a', { weight: 0 }),
      hostView('b'),
      hostView('c', { weight: 3 }),
      hostView('d', { weight: 0 }),
    ] as const;

    expect(new ShuffleBalancer(() => random).pick(hosts).name).toBe(expected);
  });

  it('draws evenly where every weight is 0', () => {
    const hosts = [hostView('a', { weight: 0 }), hostView('b', { weight: 0 })] as const;

    expect(picks(new ShuffleBalancer(() => 0.1), hosts, 1)).toBe('a');
    expect(picks(new ShuffleBalancer(() => 0.9), hosts, 1)).toBe('b');
  });
});

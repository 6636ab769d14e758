import { describe, expect, it } from '@jest/globals';
import { InOrderBalancer } from '../../../lib/balancers/in-order.ts';
import { hostView } from '../../support/host-view.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const [a, b, c] = [hostView('a'), hostView('b'), hostView('c')];
const spare = hostView('a', { weight: 0 });

describe('InOrderBalancer', () => {
  it.each([
    ['the first of all', [c, a, b], 'a'],
    ['the next while the first is away', [c, b], 'b'],
    ['a host of weight 0 after the others', [spare, b, c], 'b'],
    ['a host of weight 0 where nothing else is left', [spare], 'a'],
  ] as const)('takes %s, every time', (_, hosts, expected) => {
    const balancer = new InOrderBalancer(seededRandom(1));

    const names = Array.from({ length: 5 }, () => balancer.pick(hosts).name);

    expect(new Set(names)).toEqual(new Set([expected]));
  });
});

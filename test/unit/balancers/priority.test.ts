import { describe, expect, it } from '@jest/globals';
import { PriorityBalancer } from '../../../lib/balancers/priority.ts';
import { hostView, picks, tally } from '../../support/host-view.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const [a, b, c, d] = [hostView('a'), hostView('b'), hostView('c'), hostView('d')];

function balancer(first: number): PriorityBalancer {
  return new PriorityBalancer(seededRandom(1), first);
}

describe('PriorityBalancer', () => {
  it('takes only the first host by default order, wherever it stands in the list', () => {
    expect(picks(balancer(1), [c, b, a], 4)).toBe('aaaa');
  });

  it('takes the first hosts in turn', () => {
    expect(tally(balancer(2), [a, b, c, d], 100)).toEqual({ a: 50, b: 50, c: 0, d: 0 });
  });

  it('shares between the first hosts by weight', () => {
    const heavy = hostView('a', { weight: 3 });

    expect(tally(balancer(2), [heavy, b, c], 400)).toEqual({ a: 300, b: 100, c: 0 });
  });

  it('does not move the next host up while one of the first is away', () => {
    expect(tally(balancer(2), [b, c, d], 10)).toEqual({ b: 10, c: 0, d: 0 });
  });

  it('takes the rest in turn while all of the first are away, and returns', () => {
    const priority = balancer(2);

    expect(tally(priority, [c, d], 10)).toEqual({ c: 5, d: 5 });
    expect(tally(priority, [a, b, c, d], 10)).toEqual({ a: 5, b: 5, c: 0, d: 0 });
  });

  it('leaves a first host of weight 0 for the last resort', () => {
    const spare = hostView('a', { weight: 0 });

    expect(tally(balancer(1), [spare, b, c], 10)).toEqual({ a: 0, b: 5, c: 5 });
    expect(tally(balancer(1), [spare], 1)).toEqual({ a: 1 });
  });
});

import { describe, expect, it } from '@jest/globals';
import { preferLast } from '../../../lib/hosts/prefer-last.ts';

const idle = (costs: readonly number[]): { resource: number }[] =>
  costs.map((resource) => ({ resource }));
const itself = (cost: number): number => cost;

describe('preferLast', () => {
  it.each([
    [
      [2, 0, 1],
      [2, 1, 0],
    ],
    [
      [1, 2, 3],
      [2, 3, 1],
    ],
    [
      [3, 2, 1],
      [3, 2, 1],
    ],
    [[], []],
    [[5], [5]],
  ])('moves the cheapest of %p to the end', (costs, expected) => {
    const free = idle(costs);

    preferLast(free, itself);

    expect(free.map(({ resource }) => resource)).toEqual(expected);
  });

  it('takes the last of equal ones, as it lies', () => {
    const [first, last] = [{ resource: 1 }, { resource: 1 }];
    const free = [first, last];

    preferLast(free, itself);

    expect(free[1]).toBe(last);
  });

  it('looks at no more than a few, and at none behind one that is right', () => {
    const looks: number[] = [];
    const look = (cost: number): number => {
      looks.push(cost);
      return cost;
    };

    preferLast(idle(Array.from({ length: 100 }, (_, at) => 200 - at)), look);
    expect(looks.splice(0)).toHaveLength(32);
    preferLast(idle([1, 1, 0, 1]), look);
    expect(looks).toEqual([1, 0]);
  });

  it('leaves all as it is where nothing makes a difference', () => {
    const free = idle([2, 0, 1]);

    preferLast(free, undefined);

    expect(free).toEqual(idle([2, 0, 1]));
  });
});

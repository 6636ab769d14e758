import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CatchUp } from '../../../lib/consistency/catch-up.ts';

describe('CatchUp', () => {
  it('takes no check for hopeless before one has failed', () => {
    const catchUp = new CatchUp();
    catchUp.noteReached(50);

    expect(catchUp.isHopeless(0, 1000)).toBe(false);
  });

  it('expects what was missing to take twice its age, and a little', () => {
    const catchUp = new CatchUp();

    catchUp.noteBehind(20, 1000);

    expect([0, 44, 45, 100].map((age) => catchUp.isHopeless(age, 1000))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('is not taken in by what was missing right after it was written', () => {
    const catchUp = new CatchUp();

    catchUp.noteBehind(0, 1000);

    expect([4, 5].map((age) => catchUp.isHopeless(age, 1000))).toEqual([true, false]);
  });

  it('keeps the longest of the times that it took lately', () => {
    const catchUp = new CatchUp();

    catchUp.noteBehind(100, 1000);
    catchUp.noteBehind(10, 1001);

    expect(catchUp.isHopeless(204, 1001)).toBe(true);
  });

  it('hopes again as soon as a check was good', () => {
    const catchUp = new CatchUp();
    catchUp.noteBehind(100, 1000);

    catchUp.noteReached(30);

    expect([29, 30].map((age) => catchUp.isHopeless(age, 1000))).toEqual([true, false]);
  });

  it.each([10, 1000, 600_000])('forgets soon what was missing %i ms after it', (age) => {
    const catchUp = new CatchUp();
    catchUp.noteBehind(age, 1000);
    expect(catchUp.isHopeless(0, 1199)).toBe(true);

    expect(catchUp.isHopeless(0, 1200)).toBe(false);
    catchUp.noteBehind(1, 1200);

    expect([6, 7].map((later) => catchUp.isHopeless(later, 1200))).toEqual([true, false]);
  });

  it('keeps what it expects below twice any steady delay, and a little', () => {
    const delays = fc.integer({ min: 1, max: 300 });
    const ages = fc.array(fc.integer({ min: 0, max: 600 }), { minLength: 50, maxLength: 200 });
    fc.assert(
      fc.property(delays, ages, (delay, list) => {
        const catchUp = new CatchUp();
        let hasFailed = false;
        for (const age of list) {
          if (catchUp.isHopeless(age, 0)) continue;
          if (age >= delay) catchUp.noteReached(age);
          else catchUp.noteBehind(age, 0);
          hasFailed ||= age < delay;
          expect(catchUp.isHopeless(age, 0)).toBe(age < delay);
        }
        // One in vain more than doubles what is expected, and none goes beyond this.
        expect(catchUp.isHopeless(2 * delay + 5, 0)).toBe(false);
        expect(catchUp.isHopeless(0, 0)).toBe(hasFailed);
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isBefore, laterMark, type Mark } from '../../../lib/consistency/mark.ts';

// Few values, so that equal ones, and equal parts, are met.
const marks = fc.record({
  timeline: fc.integer({ min: 1, max: 3 }),
  lsn: fc.bigInt({ min: 0n, max: 3n }),
});

describe('isBefore', () => {
  it.each<[string, Mark, Mark, boolean]>([
    ['an earlier position', { timeline: 1, lsn: 8n }, { timeline: 1, lsn: 9n }, true],
    ['the same position', { timeline: 1, lsn: 9n }, { timeline: 1, lsn: 9n }, false],
    ['an earlier timeline', { timeline: 1, lsn: 9n }, { timeline: 2, lsn: 8n }, true],
    ['a later timeline', { timeline: 10, lsn: 8n }, { timeline: 9, lsn: 9n }, false],
    ['a far position', { timeline: 1, lsn: 2n ** 63n }, { timeline: 1, lsn: 2n ** 63n + 1n }, true],
  ])('compares timelines first: %s', (_, one, other, expected) => {
    expect(isBefore(one, other)).toBe(expected);
  });

  it('is an order in which any two marks have a place', () => {
    fc.assert(
      fc.property(marks, marks, marks, (a, b, c) => {
        const isSame = a.timeline === b.timeline && a.lsn === b.lsn;
        expect([isBefore(a, b), isBefore(b, a), isSame].filter(Boolean)).toHaveLength(1);
        expect(isBefore(a, b) && isBefore(b, c) && !isBefore(a, c)).toBe(false);
      }),
    );
  });
});

describe('laterMark', () => {
  it('is the only one where there is no other', () => {
    const mark = { timeline: 1, lsn: 0n };

    expect(laterMark(mark, undefined)).toBe(mark);
  });

  it('is the later one, whatever the order and the grouping', () => {
    fc.assert(
      fc.property(marks, marks, marks, (a, b, c) => {
        const later = laterMark(a, b);
        expect([a, b]).toContain(later);
        expect([isBefore(later, a), isBefore(later, b)]).toEqual([false, false]);
        expect(laterMark(b, a)).toEqual(later);
        expect(laterMark(later, c)).toEqual(laterMark(a, laterMark(b, c)));
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { longestGap, type Outcome, tallyOf } from '../../support/load-report.ts';

const error = { atMillis: 260, code: '57P01', message: 'gone', outcome: 'unknown' };

const outcomes: Outcome[] = [
  { n: 0, atMillis: 0, delayMillis: 50, server: 'a' },
  { n: 1, atMillis: 90, delayMillis: 20, server: 'b' },
  { n: 2, atMillis: 100, delayMillis: 5, server: 'b' },
  { n: 3, atMillis: 150, delayMillis: 110, error },
  { n: 4, atMillis: 300, delayMillis: 20 },
  { n: 5, atMillis: 400 },
];

describe('tallyOf', () => {
  it('counts what became of queries', () => {
    expect(tallyOf(outcomes, 7, 430)).toMatchObject({
      total: 6,
      answered: 4,
      failed: 1,
      unanswered: 1,
      skipped: 7,
      errors: [error],
      longest: { delayMillis: 110, atMillis: 150 },
      served: { a: 1, b: 2, unknown: 1 },
      timeline: [{ a: 1 }, { b: 2 }, {}, { unknown: 1 }],
    });
  });

  it('says who answered in a part of the time', () => {
    const { spread } = tallyOf(outcomes, 0, 430);

    expect(spread(50, 110)).toEqual({ a: 1, b: 1 });
    expect(spread(111, 320)).toEqual({});
  });

  it('counts the delay of a query that is still out', () => {
    expect(tallyOf(outcomes, 0, 900).longest).toEqual({ delayMillis: 500, atMillis: 400 });
  });

  it('shows ten errors at most', () => {
    const failed = Array.from({ length: 12 }, (_, n) => ({
      n,
      atMillis: n,
      delayMillis: 1,
      error,
    }));

    expect(tallyOf(failed, 0, 100)).toMatchObject({ failed: 12, errors: { length: 10 } });
  });
});

describe('longestGap', () => {
  it.each([
    ['between two answers', outcomes, 500, 0.21],
    ['before the end', outcomes, 620, 0.3],
    ['before the first', [{ n: 0, atMillis: 100, delayMillis: 100 }], 300, 0.2],
    ['as long as the load, where none was answered', [], 300, 0.3],
  ])('is the longest time without an answer, %s', (_, some, end, seconds) => {
    expect(longestGap(some, end)).toBeCloseTo(seconds, 6);
  });
});

import { describe, expect, it } from '@jest/globals';
import { isTooNested } from '../../../lib/sql/nesting.ts';

const many = (piece: string, times: number): string => piece.repeat(times);

describe('isTooNested', () => {
  it.each([
    ['brackets', `select ${many('(', 301)}1${many(')', 301)}`],
    ['CASE', `select ${many('case when true then ', 301)}1${many(' end', 301)}`],
    ['chained CASE', `select ${many('case when a and b then 1 end + ', 301)}1`],
    ['operators', `select 1${many(' + 1', 301)}`],
    ['operators within brackets', `select ${many('(1 + ', 160)}1${many(')', 160)}`],
    ['UNION', `select 1${many(' union select a, b', 301)}`.replaceAll(',', ' +')],
    ['JOIN', `select 1 from t${many(' join u on a = b and c', 301)}`],
    ['NOT', `select ${many('NOT ', 301)}true`],
  ])('notices deep %s', (_, text) => {
    expect(isTooNested(text)).toBe(true);
  });

  it.each([
    ['a list', `select 1 where a in (1${many(', -1', 5000)})`],
    ['AND', `select 1 where a = 1${many(' and a = 1', 5000)}`],
    ['OR', `select 1 where (a = 1)${many(' or (a = 1)', 5000)}`],
    ['brackets side by side', `values (1)${many(', (1)', 5000)}`],
    ['a literal', `select '${many('(', 5000)}'`],
    ['a quoted name', `select "${many('(', 5000)}"`],
    ['a comment', `select /* ${many('(', 5000)} */ 1`],
    ['closing brackets', many(')', 5000)],
    ['an open literal', `select '${many('(', 5000)}`],
  ])('is not misled by %s', (_, text) => {
    expect(isTooNested(text)).toBe(false);
  });
});

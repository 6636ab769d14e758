import { describe, expect, it } from '@jest/globals';
import { mayChangeSchema } from '../../../lib/sql/schema-change.ts';

describe('mayChangeSchema', () => {
  it.each<[string, boolean]>([
    ['select 1', false],
    ['  SELECT 1;  ', false],
    ['-- c\n/* d /* e */ */ (( select 1', false],
    ['insert into t values (1)', false],
    ['with x as (select 1) select * from x', false],
    ['copy t from stdin', false],
    ['create table t (a int)', true],
    ['/* select */ create table t (a int)', true],
    ['insert into t values (1); create table u (a int)', true],
    ["select ';'", true],
    ['/* never ends select 1', true],
    ['selection of something', true],
    ['do $$begin end$$', true],
    ['', true],
  ])('%s → %s', (text, may) => {
    expect(mayChangeSchema(text)).toBe(may);
  });

  it('takes a time that grows no faster than the text', () => {
    const texts = (n: number): readonly string[] => [
      `select ${'; '.repeat(n)}`,
      ' '.repeat(2 * n),
      '/*'.repeat(n),
    ];
    const duration = (n: number): number => {
      const all = texts(n);
      const began = performance.now();
      for (const text of all) mayChangeSchema(text);
      return performance.now() - began;
    };
    duration(1000);

    // Twenty times the text; where time grew with its square, four hundred times as long.
    expect(duration(400_000)).toBeLessThan(100 * Math.max(1, duration(20_000)));
  });
});

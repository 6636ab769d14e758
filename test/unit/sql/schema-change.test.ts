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

  it('takes little time over long texts', () => {
    const texts = [`select ${'; '.repeat(500_000)}`, ' '.repeat(1_000_000), '/*'.repeat(500_000)];
    const began = performance.now();

    for (const text of texts) mayChangeSchema(text);

    expect(performance.now() - began).toBeLessThan(1000);
  });
});

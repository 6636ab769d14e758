import { describe, expect, it } from '@jest/globals';
import type { Carriage } from '../../../lib/state/carriage.ts';
import { carriageOf } from '../../../lib/state/carriage.ts';

const changes = [{ name: 'app.tenant', value: 'a' }];
const ofNext = [{ name: 'default_transaction_read_only', value: 'on' }];

describe('carriageOf', () => {
  it.each<[Carriage, string | undefined]>([
    ['batch', 'select 1'],
    ['batch', '  (select 1) union select 2;  '],
    ['batch', '/* rwsplit: primary */ -- it’s\n insert into t values (1)'],
    ['batch', 'with w as (select 1) select 1'],
    ['batch', 'TABLE t'],
    ['ahead', 'BEGIN;'],
    ['ahead', 'BEGIN TRANSACTION ISOLATION LEVEL serializable;'],
    ['ahead', 'start transaction read only'],
    ['alone', 'begin; delete from t'],
    ['alone', 'select 1; select 2'],
    ['alone', "select ';'"],
    ['alone', 'call p()'],
    ['alone', 'do $$ begin commit; end $$'],
    ['alone', 'vacuum t'],
    ['alone', 'create index concurrently on t (a)'],
    ['alone', 'copy t from stdin'],
    ['alone', '/* nested /* comment */ vacuum */ select 1'],
    ['alone', 'selection'],
    ['alone', ''],
    ['alone', undefined],
  ])('lets a change travel in the way %p with %p', (expected, text) => {
    expect(carriageOf(text, changes)).toBe(expected);
  });

  it.each<[Carriage, string]>([
    ['alone', 'select 1'],
    ['ahead', 'begin'],
  ])('has defaults of transactions there when one begins: %p with %p', (expected, text) => {
    expect(carriageOf(text, ofNext)).toBe(expected);
  });

  it('takes no long time for long comments', () => {
    const begun = performance.now();

    carriageOf(`${' '.repeat(50_000)}${'/**/ '.repeat(20_000)}x`, changes);

    expect(performance.now() - begun).toBeLessThan(500);
  });
});

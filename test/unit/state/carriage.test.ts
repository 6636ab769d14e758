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
    ['alone', '-- x\rcall p()'],
    ['batch', '-- x\rselect 1'],
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

  it('leaves the isolation that a replica refuses before anything else is sent', () => {
    const isolation = [{ name: 'default_transaction_isolation', value: 'serializable' }];

    expect(carriageOf('begin', [...isolation, ...changes])).toBe('alone');
  });

  it('gives a limit to transactions that have yet to begin', () => {
    const limit = [{ name: 'transaction_timeout', value: '5s' }];

    expect(carriageOf('select 1', limit)).toBe('alone');
    expect(carriageOf('begin', limit)).toBe('ahead');
  });
});

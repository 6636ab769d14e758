import { describe, expect, it } from '@jest/globals';
import { NamedTexts } from '../../../lib/sql/named-texts.ts';

const isNamed = (text: string): boolean => {
  const texts = new NamedTexts(100, 100_000);
  texts.find(text, '');
  return texts.find(text, '') !== undefined;
};

describe('NamedTexts', () => {
  it('names a text from its second sight on', () => {
    const texts = new NamedTexts(100, 100_000);

    const found = ['select 1', 'select 2', 'select 1', 'select 1'].map(
      (text) => texts.find(text, '')?.name,
    );

    expect(found).toEqual([undefined, undefined, found[3], expect.stringMatching(/^rw_\w{32}$/)]);
  });

  it('gives a text the same name in every process, and another in another search path', () => {
    const nameOf = (texts: NamedTexts, key: string): string | undefined => {
      texts.find('select 1', key);
      return texts.find('select 1', key)?.name;
    };
    const [one, other] = [new NamedTexts(100, 100_000), new NamedTexts(100, 100_000)];

    const names = [nameOf(one, ''), nameOf(one, 'a'), nameOf(one, 'b')];

    expect(new Set(names).size).toBe(3);
    expect([nameOf(other, ''), nameOf(other, 'a'), nameOf(other, 'b')]).toEqual(names);
  });

  it.each([
    'select 1',
    '  SELECT\n1',
    'select 1;',
    'select 1 ; \n',
    '(select 1) union (select 2)',
    '/* a */ -- b\n select 1',
    'insert into t values ($1)',
    'update t set a = $1',
    'delete from t',
    'merge into t using s on true when matched then delete',
    'with a as (select 1) select * from a',
    'values (1)',
    'table t',
  ])('names %p', (text) => {
    expect(isNamed(text)).toBe(true);
  });

  it.each([
    '',
    'select 1; select 2',
    "select ';' || 'a'",
    'selected',
    'begin',
    'set search_path to a',
    'call p()',
    'do $$ begin end $$',
    'explain select 1',
    'create table t ()',
    '-- select 1',
    '/* select 1',
    `select '${'a'.repeat(40_000)}'`,
  ])('names no %.30p', (text) => {
    expect(isNamed(text)).toBe(false);
  });

  it('looks at a text of many spaces no longer than at any other', () => {
    const spaces = ' '.repeat(30_000);
    const begin = performance.now();

    const named = [`${spaces}1`, `select 1${spaces};${spaces}1`, '/*'.repeat(15_000)];

    expect(named.map(isNamed)).toEqual([false, false, false]);
    expect(performance.now() - begin).toBeLessThan(100);
  });

  it.each([
    "select timestamptz 'now'",
    "select * from tokens where until > 'now'",
    "select date 'Today' - 1",
    "insert into notes (at) values (timestamp 'yesterday')",
    "select 'tomorrow'::date",
  ])('names no text whose literals are read by the clock: %s', (text) => {
    expect(isNamed(text)).toBe(false);
  });

  it('names a text that asks the clock each time', () => {
    expect(isNamed('select now(), current_date, now () from knowns')).toBe(true);
  });

  it('forgets what was seen longest ago, by count and by characters', () => {
    const few = new NamedTexts(2, 100_000);
    const short = new NamedTexts(100, 30);
    for (const texts of [few, short]) {
      for (const text of ['select 1', 'select 2', 'select 30000000']) texts.find(text, '');
    }

    expect([few.find('select 1', ''), few.find('select 30000000', '')?.name]).toEqual([
      undefined,
      expect.any(String),
    ]);
    expect([short.find('select 1', ''), short.find('select 30000000', '')?.name]).toEqual([
      undefined,
      expect.any(String),
    ]);
  });
});

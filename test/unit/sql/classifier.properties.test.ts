import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { classify } from '../../../lib/sql/classifier.ts';
import { isParserLoaded, loadParser } from '../../../lib/sql/parser.ts';
import { isNamePart, skipQuoted } from '../../../lib/sql/scan.ts';
import { disguises, reads, statements } from './statements.ts';
import { amount } from '../../support/long.ts';

beforeAll(loadParser);

const texts = [
  ...Object.values(statements).flatMap((rows) => rows.map(([sql]) => sql)),
  ...reads,
  ...disguises,
];
const filler = fc.constantFrom(
  ' ',
  '\n',
  '\t',
  '\r\n',
  '/* delete from t */',
  '/* /* ; */ */',
  '-- for update\n',
  ' /* $$ */ ',
  "/* ' */",
);

/** Splits a text where its white space is, and leaves literals, names and comments whole. */
function pieces(sql: string): string[] {
  const found: string[] = [];
  let current = '';
  for (let i = 0; i < sql.length;) {
    const end = skipQuoted(sql, i);
    if (end < 0) return [sql];
    if (end > i) {
      current += sql.slice(i, end);
      i = end;
    } else {
      if (sql[i] === ' ') {
        found.push(current);
        current = '';
      } else current += sql[i];
      i++;
    }
  }
  return [...found, current];
}

/** Changes the case of what stands outside of literals, quoted names and comments. */
function recased(sql: string, isUpper: (i: number) => boolean): string {
  let result = '';
  for (let i = 0; i < sql.length;) {
    const end = skipQuoted(sql, i);
    const stop = end > i ? end : i + 1;
    const piece = sql.slice(i, stop);
    result +=
      end > i || end < 0 || !isNamePart(sql.charCodeAt(i))
        ? piece
        : isUpper(i)
          ? piece.toUpperCase()
          : piece;
    i = stop;
  }
  return result;
}

/** The verdict; whether a text that could not be read may be DDL is a guess, which comments may sway. */
function judged(text: string): object {
  const { verdict } = classify(text);
  return verdict.isUnread === true ? { ...verdict, changesCatalog: 'maybe' } : verdict;
}

describe('classify', () => {
  it('is not swayed by comments and white space', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(filler, { minLength: 1, maxLength: 30 }),
        (sql, fillers) => {
          const parts = pieces(sql);
          // The first and the last filler surround the text.
          let text = fillers[0] ?? '';
          parts.forEach((part, i) => {
            text += (i === 0 ? '' : ` ${fillers[i % fillers.length]} `) + part;
          });

          expect(judged(`${text} `)).toEqual(judged(sql));
        },
      ),
      { numRuns: amount(500) },
    );
  });

  it('is not swayed by the case of keywords and unquoted names', () => {
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.infiniteStream(fc.boolean()), (sql, flips) => {
        const text = recased(sql, () => flips.next().value);

        expect(classify(text).verdict.intent).toBe(classify(sql).verdict.intent);
      }),
      { numRuns: amount(500) },
    );
  });

  it('never lets a spliced-in write pass for a read', () => {
    const writes = [
      "nextval('sq')",
      "(select setval('sq', 1))",
      '(select 1 from t for update)',
      '(select pg_advisory_lock(1))',
      "pg_notify('a', 'b')",
      '(with w as (delete from t returning 1) select * from w)',
    ];
    const templates = [
      (w: string) => `select ${w}`,
      (w: string) => `select 1 where 1 = ${w}`,
      (w: string) => `select coalesce(1, ${w})`,
      (w: string) => `select * from t where a in (1, ${w}, 3)`,
      (w: string) => `with x as (select ${w}) select 1`,
      (w: string) => `select (select ${w})`,
      (w: string) => `select case when true then 1 else ${w} end`,
      (w: string) => `select array[1, ${w}]`,
      (w: string) => `select 1 union select ${w}`,
      (w: string) => `select * from (select ${w}) q join u on ${w} = 1`,
      (w: string) => `select f(${w}) over (order by ${w})`,
    ];
    // Only what PostgreSQL itself parses counts: a text it refuses is no read either way.
    fc.assert(
      fc.property(
        fc.constantFrom(...writes),
        fc.array(fc.constantFrom(...templates), { minLength: 1, maxLength: 6 }),
        (write, nest) => {
          const text = nest.reduce((inner, template) => template(`(${inner})`), `select ${write}`);

          expect(classify(text).verdict.intent).toBe('write');
        },
      ),
      { numRuns: amount(300) },
    );
  });

  it('never lets a write behind a read pass for a read', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...reads),
        fc.constantFrom(...disguises),
        filler,
        (read, write, space) => {
          expect(classify(`${read}\n;${space}${write}`).verdict.intent).not.toBe('read');
        },
      ),
      { numRuns: amount(300) },
    );
  });

  it('survives any text, and goes on working', () => {
    const soup = fc.array(
      fc.constantFrom(
        'select',
        '(',
        ')',
        '$$',
        "'",
        '"',
        '--',
        '/*',
        '*/',
        ';',
        '\\',
        '\0',
        '\ud800',
        '🐘',
        '$1',
        '?',
        'for update',
        '[',
        '::',
        ',',
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 200 }),
          soup.map((words) => words.join(' ')),
        ),
        (text) => {
          classify(text);

          expect(classify('select 1').verdict.intent).toBe('read');
        },
      ),
      { numRuns: amount(1000) },
    );
  });

  it.each<[string, string]>([
    ['brackets', `select ${'('.repeat(9000)}1${')'.repeat(9000)}`],
    ['sub-selects', `select ${'(select '.repeat(2500)}1${')'.repeat(2500)}`],
    ['CASE', `select ${'case when true then '.repeat(1000)}1${' end'.repeat(1000)}`],
    ['NOT', `select ${'not '.repeat(5000)}true`],
    ['operators', `select 1${'+1'.repeat(10_000)}`],
    ['signs', `select ${'- '.repeat(10_000)}1`],
    ['casts', `select 1${'::int'.repeat(5000)}`],
    ['UNION', `select 1${' union select 1'.repeat(2000)}`],
    ['JOIN', `select 1 from t${' cross join t'.repeat(2000)}`],
    ['COLLATE', `select a${' collate "C"'.repeat(2500)}`],
    ['AT TIME ZONE', `select a${' at time zone b'.repeat(2000)}`],
    ['IS NULL', `select a${' is null'.repeat(4000)}`],
    ['arrays', `select ${'array['.repeat(4000)}1${']'.repeat(4000)}`],
    ['1 MB of literal', `select '${'x'.repeat(1_000_000)}'`],
    ['1 MB of comment', `select 1 /*${'/*'.repeat(500_000)}`],
    ['1 MB of white space', `select${' '.repeat(1_000_000)}1`],
    ['1 MB of multibyte letters', `select '${'é'.repeat(500_000)}'`],
    ['20,000 multibyte letters', `select '${'é'.repeat(20_000)}'`],
  ])('sends what is too deep or too long to the primary: %s', (_, text) => {
    expect(classify(text).verdict).toMatchObject({ intent: 'write', proved: false });
    expect(isParserLoaded()).toBe(true);
    expect(classify('select 1').verdict.intent).toBe('read');
  });

  it('understands what is long or deep but usual', () => {
    const wide = `select * from t where ${Array.from({ length: 600 }, (_, i) => `(a = $${i} and b = 'x')`).join(' or ')}`;
    const union = `select 1${' union all select a from t where b = 1'.repeat(100)}`;
    const nested = `select * from t where ${'('.repeat(50)}a = 1${')'.repeat(50)}`;

    expect([wide, union, nested].map((text) => classify(text).verdict.intent)).toEqual([
      'read',
      'read',
      'read',
    ]);
  });

  it('sees nothing but an unknown text where a NUL would hide the rest', () => {
    expect(classify('select 1\0; delete from t').verdict).toMatchObject({
      intent: 'write',
      proved: false,
    });
  });
});

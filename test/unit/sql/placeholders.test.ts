import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { shortenPlaceholderLists } from '../../../lib/sql/placeholders.ts';
import { skipQuoted } from '../../../lib/sql/scan.ts';
import { amount } from '../../support/long.ts';

/** What may stand in a text, whole or in part. */
const parts =
  String.raw`? , ( ) ' " \ - / -- /* */ $$ $a$ a E 1 :: = ?? ?| ?& ?,?,? (?,?) \?`.split(' ');
const anyText = fc
  .array(fc.constantFrom(...parts, ' ', '\n', '\t', ', ', '(?, ?, ?), ', '?, ?, ', "'?, ?, ?'"), {
    maxLength: 24,
  })
  .map((chosen) => chosen.join(''));

/** The same, character by character: what is a placeholder, and what belongs to something else. */
function shortenSlowly(text: string): string {
  const end = (i: number): number => Math.max(skipQuoted(text, i), i + 1 + +(text[i] === '\\'));
  let code = '';
  const literals: string[] = [];
  for (let i = 0; i < text.length; i = end(i)) {
    if (skipQuoted(text, i) < 0) return text;
    const isPlain = end(i) === i + 1 && !/['"]/.test(text[i] ?? '');
    if (!isPlain) literals.push(text.slice(i, end(i)));
    code += isPlain ? text[i] : '\0';
  }
  const two = (item: string): RegExp =>
    new RegExp(`(${item}[ \\n\\t]*,[ \\n\\t]*${item})(?:[ \\n\\t]*,[ \\n\\t]*${item})+`, 'g');
  const one = String.raw`\?(?![?|&])`;
  const short = code
    .replaceAll(two(one), '$1')
    .replaceAll(two(String.raw`\([ \n\t]*${one}(?:[ \n\t]*,[ \n\t]*${one})?[ \n\t]*\)`), '$1');
  return short.replaceAll('\0', () => literals.shift() ?? '');
}

describe('shortenPlaceholderLists', () => {
  it.each([
    ['a in (?, ?, ?)', 'a in (?, ?)'],
    ['a in (?,?,?,?)', 'a in (?,?)'],
    ['a in (? , ?\n,\t?)', 'a in (? , ?)'],
    ['a in (?, ?, ?) and b in (?, ?, ?, ?)', 'a in (?, ?) and b in (?, ?)'],
    ['(a, b) in ((?, ?), (?, ?), (?, ?))', '(a, b) in ((?, ?), (?, ?))'],
    ['values (?, ?, ?), (?, ?, ?), (?, ?, ?)', 'values (?, ?), (?, ?)'],
    ['any (array[?, ?, ?])', 'any (array[?, ?])'],
    ["b = 'it''s (?, ?, ?)' and a in (?, ?, ?)", "b = 'it''s (?, ?, ?)' and a in (?, ?)"],
    ["E'\\'(?, ?, ?)' (?, ?, ?)", "E'\\'(?, ?, ?)' (?, ?)"],
    ['a in ($1, $2, $3)', 'a in ($1, $1)'],
    ['a = $1 and b in ($2, $3, $4) and c = $5', 'a = $1 and b in ($1, $1) and c = $1'],
    ['values ($1, $2, $3), ($4, $5, $6), ($7, $8, $9)', 'values ($1, $1), ($1, $1)'],
    ['$$ $1, $2, $3 $$, $1, $2, $3', '$$ $1, $2, $3 $$, $1, $1'],
  ])('makes one text of lists of any length: %s → %s', (text, expected) => {
    expect(shortenPlaceholderLists(text)).toBe(expected);
  });

  it.each([
    'select 1',
    'a = ?',
    'a in (?)',
    'a in (?, ?)',
    '(?, ?) overlaps (?, ?)',
    "'(?, ?, ?)'",
    '"(?, ?, ?)"',
    '-- (?, ?, ?)',
    '/* /* */ (?, ?, ?) */',
    '$$ (?, ?, ?) $$',
    '$a$ (?, ?, ?) $b$ $a$',
    'a in (?, 1, ?)',
    'a in (?::int, ?::int, ?::int)',
    'a \\? b, \\?, \\?, \\?',
    "a in (?, ?, ?) and b = 'open",
    'a in (?, ?, ?) /* open',
    '(??, ??, ??)',
    'a ?| b, a ?& c',
    'a = $1 and b in ($2, $3)',
    '(($1, $2), ($3, $4))',
    'a$1, $2, $3',
    '$1, $2, $3a',
    "'($1, $2, $3)'",
  ])('leaves other texts alone: %s', (text) => {
    expect(shortenPlaceholderLists(text)).toBe(text);
  });

  it.each([
    ['?', (n: number) => `?${n % 2 === 0 ? ' ' : ''}`],
    ['$1', (n: number) => `$${n + 1}`],
  ])('makes a short text of as many placeholders as PostgreSQL takes: %s', (short, placeholder) => {
    const list = Array.from({ length: 30_000 }, (_, n) => placeholder(n)).join(',');

    const shape = shortenPlaceholderLists(`select * from t where id in (${list})`);

    expect(shape.replaceAll(' ', '')).toBe(`select*fromtwhereidin(${short},${short})`);
  });

  it('makes of any text what is made of it character by character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(shortenPlaceholderLists(text)).toBe(shortenSlowly(text));
      }),
      { numRuns: amount(500) },
    );
  });

  it('makes of numbered placeholders what is made of others', () => {
    const around = fc.constantFrom(' ? ', ' ? , ? , ? ', ',', '(', ')', "'?'", 'a', '\n');
    fc.assert(
      fc.property(fc.array(around, { maxLength: 24 }), (chosen) => {
        const text = chosen.join('');
        let count = 0;
        const numbered = text.replaceAll(' ? ', () => ` $${++count} `);

        const shape = shortenPlaceholderLists(numbered).replaceAll(/\$\d+/g, '?');

        expect(shape).toBe(shortenPlaceholderLists(text));
      }),
      { numRuns: amount(200) },
    );
  });

  it('does not read through texts that no list of placeholders can make', () => {
    const text = `select ?, ?, ?, '${'x'.repeat(300_000)}'`;

    expect(shortenPlaceholderLists(text)).toBe(text);
  });
});

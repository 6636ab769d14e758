import { describe, expect, it } from '@jest/globals';
import { skipQuoted, withoutComments } from '../../../lib/sql/scan.ts';

describe('skipQuoted', () => {
  it.each([
    ["'a' b", 0, 3],
    ["E'\\'' b", 1, 5],
    ["E'''' b", 1, 5],
    ["fE'\\' b", 2, 5],
    ['"a""b" c', 0, 3],
    ['-- a\nb', 0, 5],
    ['-- a', 0, 4],
    ['- a', 0, 0],
    ['/* /* */ */ b', 0, 11],
    ['/ a', 0, 0],
    ['$$ a $$ b', 0, 7],
    ['$x$ $$ $x$ b', 0, 10],
    ['$1', 0, 0],
    ['a$$b', 1, 1],
    ['select', 0, 0],
    ["'a", 0, -1],
    ['"a', 0, -1],
    ['/* a', 0, -1],
    ['$$ a', 0, -1],
    ['$1$$ a $$', 2, -1],
    ["E'a'\n'\\''", 1, -1],
  ])('finds the end of what is quoted: %j from %i → %i', (text, start, end) => {
    expect(skipQuoted(text, start)).toBe(end);
  });
});

describe('withoutComments', () => {
  it.each([
    ['select 1', 'select 1'],
    ['select /* a /* b */ c */ 1', 'select   1'],
    ['select 1 -- a\n, 2', 'select 1 \n, 2'],
    ['select \'/* a */\', "-- b", $$ /* $$', 'select \'/* a */\', "-- b", $$ /* $$'],
    ['select 4 */* a */ 2', 'select 4 *  2'],
    ["select /* a */ 'b", undefined],
  ])('takes out comments and nothing else: %j', (text, bare) => {
    expect(withoutComments(text)).toBe(bare);
  });
});

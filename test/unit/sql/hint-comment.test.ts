import { describe, expect, it } from '@jest/globals';
import { hintCommentProblem, readHintComment } from '../../../lib/sql/hint-comment.ts';

describe('readHintComment', () => {
  it.each([
    ['/* rwsplit: primary */ select 1', 'primary'],
    ['/* rwsplit: replica */ select 1', 'replica'],
    ['/*rwsplit:primary*/select 1', 'primary'],
    ['/* RWSplit: Primary */ select 1', 'primary'],
    ['\n  /* rwsplit: primary */ select 1', 'primary'],
    ['-- rwsplit: replica\nselect 1', 'replica'],
    ['select 1', undefined],
    ['', undefined],
    ['select 1 /* rwsplit: primary */', undefined],
    ['/* app */ /* rwsplit: primary */ select 1', undefined],
    ['/* not rwsplit: primary */ select 1', undefined],
    ['/* rwsplit: secondary */ select 1', undefined],
    ['/* rwsplit: primary, replica */ select 1', undefined],
    ["'/* rwsplit: primary */'", undefined],
    ['- 1', undefined],
    ['/* rwsplit: primary', undefined],
    [`/* rwsplit:${' '.repeat(1_000_000)}`, undefined],
  ])('reads only the comment that a text begins with', (text, hint) => {
    expect(readHintComment(text)).toBe(hint);
  });
});

describe('hintCommentProblem', () => {
  it('names a word that is no hint', () => {
    expect(hintCommentProblem('/* rwsplit: secondary */ select 1')).toBe(
      'The comment "rwsplit: secondary" is no hint; write "primary" or "replica".',
    );
  });

  it.each(['select 1', '/* rwsplit: primary */ select 1', '/* app */ select 1'])(
    'finds nothing wrong with %s',
    (text) => {
      expect(hintCommentProblem(text)).toBeUndefined();
    },
  );
});

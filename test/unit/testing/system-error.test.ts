import { describe, expect, it } from '@jest/globals';
import { isSystemError } from '../../../lib/testing/system-error.ts';

describe('isSystemError', () => {
  it.each([
    ['the code', { code: 'ENOENT' }, true],
    ['another code', { code: 'EACCES' }, false],
    ['no code', new Error('ENOENT'), false],
    ['nothing', null, false],
    ['a string', 'ENOENT', false],
  ])('looks for the code: %s', (_, error, expected) => {
    expect(isSystemError(error, 'ENOENT')).toBe(expected);
  });
});

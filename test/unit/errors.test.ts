import { isNativeError } from 'node:util/types';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { asError, copyError } from '../../lib/errors.ts';

class DriverError extends Error {
  readonly code = '53300';
  readonly severity = 'FATAL';
  declare detail: string;
}

describe('copyError', () => {
  it('copies the class, the message, the stack and every field', () => {
    const cause = new Error('why');
    const error = Object.assign(new DriverError('too many clients', { cause }), { detail: 'x' });

    const copy = copyError(error);

    expect(copy).not.toBe(error);
    expect(copy).toBeInstanceOf(DriverError);
    expect(isNativeError(copy)).toBe(true);
    expect(copy).toMatchObject({
      message: 'too many clients',
      code: '53300',
      severity: 'FATAL',
      detail: 'x',
      cause,
      stack: error.stack,
    });
    expect(String(copy)).toBe(String(error));
  });

  it('gives what others may write into without a trace in the first', () => {
    const error = new DriverError('too many clients');

    const copy = copyError(error);
    copy.message = `insert into t - ${copy.message}`;
    Object.assign(copy, { detail: 'y' });

    expect(error.message).toBe('too many clients');
    expect(error).not.toHaveProperty('detail');
  });

  it('hides what is hidden in the first', () => {
    const copy = copyError(new Error('gone'));

    expect(Object.keys(copy)).toEqual([]);
  });
});

describe('asError', () => {
  it('leaves errors alone, of another realm, too', () => {
    const foreign: unknown = runInNewContext("new TypeError('gone')");
    const own = new Error('gone');

    expect([asError(own), asError(foreign)]).toEqual([own, foreign]);
    expect(asError(own)).toBe(own);
    expect(asError(foreign)).toBe(foreign);
  });

  it('makes one of anything else', () => {
    expect(asError('gone')).toEqual(new Error('gone'));
    expect(asError(undefined)).toEqual(new Error('undefined'));
  });
});

import { describe, expect, it } from '@jest/globals';
import { formatLsn, parseLsn } from '../../../lib/consistency/lsn.ts';

const positions: readonly (readonly [string, bigint])[] = [
  ['0/0', 0n],
  ['0/30E01B0', 51_249_584n],
  ['1/0', 4_294_967_296n],
  ['A/FFFFFFFF', 47_244_640_255n],
  ['FFFFFFFF/FFFFFFFF', 18_446_744_073_709_551_615n],
];

describe('parseLsn', () => {
  it.each(positions)('reads %s', (text, lsn) => {
    expect(parseLsn(text)).toBe(lsn);
  });

  it('reads small letters and leading zeros', () => {
    expect(parseLsn('0/030e01b0')).toBe(51_249_584n);
  });

  it.each(['', '0', '0/', '/0', '0/G', '0/0/0', ' 0/0', '0/0\n', '-1/0', '0x1/0', '0/123456789'])(
    'refuses %j',
    (text) => {
      expect(() => parseLsn(text)).toThrow(TypeError);
    },
  );

  it('orders positions as the server does', () => {
    expect(parseLsn('1/0')).toBeGreaterThan(parseLsn('0/FFFFFFFF'));
  });
});

describe('formatLsn', () => {
  it.each(positions)('writes %s', (text, lsn) => {
    expect(formatLsn(lsn)).toBe(text);
  });

  it.each([-1n, 18_446_744_073_709_551_616n])('refuses %s', (lsn) => {
    expect(() => formatLsn(lsn)).toThrow(TypeError);
  });
});

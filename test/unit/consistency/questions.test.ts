import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatLsn } from '../../../lib/consistency/lsn.ts';
import { readLsn, readTimeline, readWritten } from '../../../lib/consistency/questions.ts';
import type { Answer } from '../../../lib/consistency/questions.ts';

const MIB = 1024n * 1024n;

function written(lsn: string, timeline = '00000001'): Answer {
  return { lsn, timeline };
}

describe('readWritten', () => {
  it('reads the position, and the timeline as it stands in the name of a file', () => {
    expect(readWritten(written('1/30E01B0', '0000001A'))).toEqual({
      timeline: 26,
      lsn: 0x1_030e_01b0n,
    });
  });

  it.each<[string, Answer | undefined]>([
    ['none', undefined],
    ['one without columns', {}],
    ['one without a position', { lsn: null, timeline: '00000001' }],
    ['one without a timeline', { lsn: '0/1', timeline: null }],
    ['no position', written('zero')],
    ['timeline 0', written('0/1', '00000000')],
    ['no timeline', written('0/1', 'none')],
    ['a timeline of more than 32 bits', written('0/1', '1FFFFFFFF')],
  ])('takes an answer for no position that is %s', (_, answer) => {
    expect(readWritten(answer)).toBeUndefined();
  });

  it.each<[string, string, string]>([
    ['a segment', '0/4000028', '0/4000000'],
    ['a page', '0/4002018', '0/4002000'],
  ])('is at the beginning of %s that has nothing but its header', (_, told, meant) => {
    expect(readWritten(written(told))).toEqual(readWritten(written(meant)));
  });

  it.each(['0/4000000', '0/4000030', '0/4002000', '0/4002020', '0/4002028'])(
    'is where it was told to be, if that is behind no header alone: %s',
    (told) => {
      expect(formatLsn(readWritten(written(told))?.lsn ?? 0n)).toBe(told);
    },
  );

  it('never asks for more than was told, and for less only by a header', () => {
    const positions = fc.bigInt({ min: MIB, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(positions, (lsn) => {
        const read = readWritten(written(formatLsn(lsn)))?.lsn ?? 0n;
        const header = lsn - read;
        expect([0n, 24n, 40n]).toContain(header);
        expect(header === 0n || read % 8192n === 0n).toBe(true);
      }),
    );
  });
});

describe('readLsn', () => {
  it.each<[string, Answer | undefined, bigint | undefined]>([
    ['a position', { lsn: '0/1A' }, 26n],
    ['null, as on a primary', { lsn: null }, undefined],
    ['no text', { lsn: 26 as unknown as string }, undefined],
    ['no position', { lsn: '26' }, undefined],
    ['nothing', undefined, undefined],
  ])('reads %s', (_, answer, expected) => {
    expect(readLsn(answer)).toBe(expected);
  });
});

describe('readTimeline', () => {
  it.each<[string, Answer | undefined, number | undefined]>([
    ['a timeline', { timeline: '12' }, 12],
    ['the last timeline', { timeline: '4294967295' }, 4_294_967_295],
    ['more than any timeline', { timeline: '4294967296' }, undefined],
    ['null, as without a receiver', { timeline: null }, undefined],
    ['nothing', undefined, undefined],
  ])('reads %s', (_, answer, expected) => {
    expect(readTimeline(answer)).toBe(expected);
  });
});

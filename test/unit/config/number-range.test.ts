import { describe, expect, it } from '@jest/globals';
import * as ranges from '../../../lib/config/number-range.ts';

const strange = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1];

describe('number ranges', () => {
  it.each([
    ['delayMillis', ranges.delayMillis, [0, 0.5, 2_147_483_647], [2_147_483_648]],
    ['periodMillis', ranges.periodMillis, [0.5, 2_147_483_647], [0, 2_147_483_648]],
    ['wholeNumber', ranges.wholeNumber, [1, 2], [0, 1.5, 2 ** 53]],
    ['byteCount', ranges.byteCount, [0, 2 ** 40], [0.5]],
    ['weightRange', ranges.weightRange, [0, 0.5, 1e9], []],
    ['shareRange', ranges.shareRange, [0.01, 1], [0, 1.01]],
    ['portRange', ranges.portRange, [1, 65_535], [0, 65_536, 1.5]],
  ])('%s holds its bounds', (_, range, inside, outside) => {
    expect(inside.filter((value) => !range.contains(value))).toEqual([]);
    expect([...strange, ...outside].filter((value) => range.contains(value))).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { FunctionLists } from '../../../lib/sql/function-lists.ts';

const lists = new FunctionLists({
  read: ['f', 'shop.g', 'Mixed', 'both'],
  write: ['w', 'shop.x', 'both'],
});

describe('FunctionLists', () => {
  it.each([
    [undefined, 'f', 'read'],
    ['any', 'f', 'read'],
    ['shop', 'g', 'read'],
    ['other', 'g', undefined],
    // A call without a schema may be of another function of that name.
    [undefined, 'g', undefined],
    [undefined, 'w', 'write'],
    ['any', 'w', 'write'],
    ['shop', 'x', 'write'],
    [undefined, 'x', 'write'],
    ['other', 'x', undefined],
    [undefined, 'both', 'write'],
    [undefined, 'mixed', 'read'],
    [undefined, 'stranger', undefined],
  ] as const)('says of %s.%s: %s', (schema, name, ruling) => {
    expect(lists.rulingOf({ schema, name })).toBe(ruling);
  });

  it('says nothing where the user said nothing', () => {
    expect(new FunctionLists().rulingOf({ name: 'f' })).toBeUndefined();
  });
});

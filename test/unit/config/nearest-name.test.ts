import { describe, expect, it } from '@jest/globals';
import { nearestName } from '../../../lib/config/nearest-name.ts';

describe('nearestName', () => {
  it.each([
    ['weigth', 'weight'],
    ['WEIGHT', 'weight'],
    ['eight', 'weight'],
    ['hostname', 'name'],
    ['tag', 'tags'],
    ['x', 'name'],
  ])('takes %s for %s', (name, nearest) => {
    expect(nearestName(name, ['name', 'weight', 'tags'])).toBe(nearest);
  });

  it.each([
    ['maxAge', 'maxAgeMillis'],
    ['WAIT', 'waitMillis'],
    ['nam', 'name'],
    ['m', 'name'],
  ])('takes %s for %s, which goes on from it', (name, nearest) => {
    expect(nearestName(name, ['name', 'maxAgeMillis', 'waitMillis'])).toBe(nearest);
  });

  it('finds nothing among no names', () => {
    expect(nearestName('weight', [])).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import { resolveHealth } from '../../../lib/config/resolve-health.ts';

function resolve(options: unknown): ReturnType<typeof resolveHealth> {
  return resolveHealth(new OptionReader(options, 'health'));
}

describe('resolveHealth', () => {
  it('keeps what is written beside the defaults', () => {
    expect(resolve({ fall: 1, slowStartMillis: 0 })).toEqual({
      ...resolve({}),
      fall: 1,
      slowStartMillis: 0,
    });
  });

  it.each<[string, unknown]>([
    ['intervalMillis', 0],
    ['timeoutMillis', 0],
    ['backoffMaxMillis', -1],
    ['slowStartMillis', Number.NaN],
    ['hangMillis', '10'],
    ['hangMillis', 2_147_483_648],
    ['fall', 0],
    ['rise', 1.5],
    ['intervalMilis', 1],
  ])('refuses %s: %p', (name, value) => {
    expect(() => resolve({ [name]: value })).toThrow(`health.${name} is`);
  });
});

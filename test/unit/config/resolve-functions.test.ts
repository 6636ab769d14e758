import { describe, expect, it } from '@jest/globals';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import { resolveFunctions } from '../../../lib/config/resolve-functions.ts';

function resolve(options: unknown): ReturnType<typeof resolveFunctions> {
  return resolveFunctions(new OptionReader(options, 'functions'));
}

describe('resolveFunctions', () => {
  it('keeps the lists', () => {
    const options = { read: ['f', 'shop.g'], write: ['h'], unknown: 'replica' };

    expect(resolve(options)).toEqual(options);
  });

  it.each([
    ['f', 'f'],
    ['Shop.F', 'shop.f'],
  ])('refuses that %s reads while %s writes', (read, write) => {
    expect(() => resolve({ read: ['x', read], write: [write] })).toThrow(
      `functions.read and functions.write both name "${read}"`,
    );
  });

  it('tells quoted names apart by case', () => {
    expect(() => resolve({ read: ['"F"'], write: ['f', '"f"'] })).not.toThrow();
  });

  it.each<[string, unknown]>([
    ['functions.read', { read: 'f' }],
    ['functions.read[0]', { read: [/f/] }],
    ['functions.write[1]', { write: ['f', ''] }],
    ['functions.unknown', { unknown: 'any' }],
    ['functions.reads', { reads: [] }],
  ])('refuses a bad %s: %p', (path, options) => {
    expect(() => resolve(options)).toThrow(expect.objectContaining({ name: 'ConfigError', path }));
  });
});

import { describe, expect, it } from '@jest/globals';
import { mergePools, readPoolOptions } from '../../../lib/config/pool-options.ts';

describe('readPoolOptions', () => {
  it('copies and freezes what is given', () => {
    const written = { min: 0, max: 5, afterCreate: () => undefined, log: undefined };

    const pool = readPoolOptions(written, 'pool');

    expect(pool).toEqual({ min: 0, max: 5, afterCreate: written.afterCreate });
    expect(Object.isFrozen(pool)).toBe(true);
    expect(Object.isFrozen(written)).toBe(false);
  });

  it.each<[string, unknown]>([
    ['pool', 'big'],
    ['pool.max', { max: 0 }],
    ['pool.max', { max: '5' }],
    ['pool.min', { min: -1 }],
    ['pool.min', { min: 0.5 }],
    ['pool.idleTimeoutMillis', { idleTimeoutMillis: Number.NaN }],
    ['pool.afterCreate', { afterCreate: true }],
    ['pool.propagateCreateError', { propagateCreateError: 1 }],
    ['pool.maximum', { maximum: 1 }],
  ])('refuses a bad %s: %p', (path, value) => {
    expect(() => readPoolOptions(value, 'pool')).toThrow(
      expect.objectContaining({ name: 'ConfigError', path }),
    );
  });
});

describe('mergePools', () => {
  it("lets the host's settings win where they say something", () => {
    const pool = mergePools({ min: 1, max: 5 }, { max: 2 }, 'pool');

    expect(pool).toEqual({ min: 1, max: 2 });
    expect(Object.isFrozen(pool)).toBe(true);
    expect(mergePools(undefined, undefined, 'pool')).toEqual({});
  });

  it('refuses a pool whose min is above its max', () => {
    expect(() => mergePools({ min: 2 }, { max: 1 }, 'pool')).toThrow(
      'pool.max is 1; it must be at least 2, the value of min.',
    );
  });
});

import type { Knex } from 'knex';
import { invalidOption } from './invalid-option.ts';
import { delayMillis, type NumberRange, wholeNumber } from './number-range.ts';
import { OptionReader } from './option-reader.ts';

const numbers: Readonly<Record<string, NumberRange>> = {
  min: {
    allowed: 'a whole number of at least 0',
    contains: (value) => Number.isSafeInteger(value) && value >= 0,
  },
  max: wholeNumber,
  acquireTimeoutMillis: delayMillis,
  createTimeoutMillis: delayMillis,
  createRetryIntervalMillis: delayMillis,
  destroyTimeoutMillis: delayMillis,
  idleTimeoutMillis: delayMillis,
  reapIntervalMillis: delayMillis,
  maxConnectionLifetimeMillis: delayMillis,
  maxConnectionLifetimeJitterMillis: delayMillis,
};

const functions = ['afterCreate', 'validate', 'log'];

/**
 * Checks the pool settings of one host and copies them.
 *
 * @throws {ConfigError} when one is unknown or has a value that is not allowed.
 */
export function readPoolOptions(value: unknown, path: string): Readonly<Knex.PoolConfig> {
  const reader = new OptionReader(value, path);
  for (const [key, range] of Object.entries(numbers)) reader.number(key, undefined, range);
  reader.boolean('propagateCreateError', true);
  reader.text('name');
  for (const key of functions) {
    const given = reader.read(key);
    if (given !== undefined && typeof given !== 'function') {
      throw invalidOption(reader.pathOf(key), given, 'a function');
    }
  }
  reader.finish();

  return mergePools(
    reader.pick([...Object.keys(numbers), ...functions, 'propagateCreateError', 'name']),
  );
}

/** Lays pool settings over each other, the last one on top, into a frozen copy. */
export function mergePools(
  ...layers: readonly (Readonly<Knex.PoolConfig> | undefined)[]
): Readonly<Knex.PoolConfig> {
  const given = layers.flatMap((layer) =>
    Object.entries(layer ?? {}).filter(([, value]) => value !== undefined),
  );
  return Object.freeze(Object.fromEntries(given));
}

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

  return Object.freeze(
    reader.pick([...Object.keys(numbers), ...functions, 'propagateCreateError', 'name']),
  );
}

/**
 * Lays a host's pool settings over Knex's, into a frozen copy.
 *
 * @throws {ConfigError} when `min` is above `max` then.
 */
export function mergePools(
  below: Readonly<Knex.PoolConfig> | undefined,
  above: Readonly<Knex.PoolConfig> | undefined,
  path: string,
): Readonly<Knex.PoolConfig> {
  const pool: Knex.PoolConfig = { ...given(below), ...given(above) };
  const { min, max } = pool;
  if (min !== undefined && max !== undefined && min > max) {
    throw invalidOption(`${path}.max`, max, `at least ${min}, the value of min`);
  }
  return Object.freeze(pool);
}

function given(pool: object | undefined): Knex.PoolConfig {
  return Object.fromEntries(Object.entries(pool ?? {}).filter(([, value]) => value !== undefined));
}

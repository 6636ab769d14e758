import { ConfigError } from '../errors.ts';
import { hideValue } from './connection-object.ts';
import { invalidOption, listKnown } from './invalid-option.ts';
import { delayMillis, periodMillis } from './number-range.ts';
import { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import type { Target } from './options.ts';
import { readSecrets } from './read-secrets.ts';
import type { ConsistencySettings, TokenSettings } from './settings.ts';

/** Every consistency mode. */
export const consistencyModes = ['session', 'eventual', 'strong'] as const;

/**
 * Completes `consistency`, a mode or an object.
 *
 * @throws {ConfigError} when it is not allowed, or not possible with the target.
 */
export function resolveConsistency(reader: OptionReader, target: Target): ConsistencySettings {
  const value = reader.read('consistency');
  const isMode = typeof value === 'string';
  if (value !== undefined && !isMode && !isOptionsObject(value)) {
    throw invalidOption(
      reader.pathOf('consistency'),
      value,
      `${listKnown(consistencyModes)}, or an object of options`,
    );
  }
  const usual = target === 'any' ? 'eventual' : 'session';
  const group = isMode
    ? new OptionReader({}, reader.pathOf('consistency'))
    : reader.group('consistency');
  const mode = isMode
    ? reader.choice('consistency', usual, consistencyModes)
    : group.choice('mode', usual, consistencyModes);
  if (target === 'any' && mode !== 'eventual') {
    const path = isMode ? reader.pathOf('consistency') : group.pathOf('mode');
    throw new ConfigError(
      path,
      `${path} is "${mode}"; with the target 'any' it must be 'eventual'.`,
    );
  }

  const settings = {
    mode,
    waitMillis: group.number('waitMillis', 0, delayMillis),
    monotonic: group.boolean('monotonic', false),
    token: resolveToken(group.group('token')),
  };
  group.finish();
  return Object.freeze(settings);
}

function resolveToken(reader: OptionReader): TokenSettings {
  const secrets = readSecrets(reader.read('secret'), reader.pathOf('secret'));
  const maxAgeMillis = reader.number('maxAgeMillis', 3_600_000, periodMillis);
  reader.finish();
  return Object.freeze(hideValue({ secrets, maxAgeMillis }, 'secrets', secrets));
}

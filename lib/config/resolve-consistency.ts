import { ConfigError } from '../errors.ts';
import type { ConsistencyMode } from './consistency-options.ts';
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

// A client whose target knows no primary, or never reads there, cannot ask it.
const possibleModes: Partial<Record<Target, readonly ConsistencyMode[]>> = {
  any: ['eventual'],
  replica: ['session', 'eventual'],
};

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
  const possible = possibleModes[target] ?? consistencyModes;
  if (!possible.includes(mode)) {
    const path = isMode ? reader.pathOf('consistency') : group.pathOf('mode');
    throw new ConfigError(
      path,
      `${path} is "${mode}"; with the target '${target}' it must be '${possible.join("' or '")}'.`,
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

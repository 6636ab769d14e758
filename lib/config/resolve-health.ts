import { delayMillis, periodMillis, wholeNumber } from './number-range.ts';
import type { OptionReader } from './option-reader.ts';
import type { HealthSettings } from './settings.ts';

/** Completes `health`. */
export function resolveHealth(reader: OptionReader): HealthSettings {
  const settings = {
    intervalMillis: reader.number('intervalMillis', 5000, periodMillis),
    timeoutMillis: reader.number('timeoutMillis', 1000, periodMillis),
    fall: reader.number('fall', 3, wholeNumber),
    rise: reader.number('rise', 2, wholeNumber),
    backoffMaxMillis: reader.number('backoffMaxMillis', 60_000, periodMillis),
    slowStartMillis: reader.number('slowStartMillis', 10_000, delayMillis),
    hangMillis: reader.number('hangMillis', 10_000, periodMillis),
  };
  reader.finish();
  return Object.freeze(settings);
}

/** Completes `failover`. */
export function resolveFailover(reader: OptionReader): { readonly waitMillis: number } {
  const settings = { waitMillis: reader.number('waitMillis', 10_000, delayMillis) };
  reader.finish();
  return Object.freeze(settings);
}

/** Completes `discovery`. */
export function resolveDiscovery(reader: OptionReader): { readonly intervalMillis: number } {
  const settings = { intervalMillis: reader.number('intervalMillis', 30_000, periodMillis) };
  reader.finish();
  return Object.freeze(settings);
}

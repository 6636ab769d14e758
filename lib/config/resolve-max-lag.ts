import { invalidOption } from './invalid-option.ts';
import { byteCount, delayMillis } from './number-range.ts';
import type { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import type { MaxLagSettings } from './settings.ts';

/** Completes `maxLag`: by default a time, in an object only what is given. */
export function resolveMaxLag(reader: OptionReader): MaxLagSettings | false {
  const value = reader.read('maxLag');
  if (value === false) return false;
  if (value !== undefined && !isOptionsObject(value)) {
    throw invalidOption(reader.pathOf('maxLag'), value, 'false or { millis?, bytes? }');
  }

  const group = reader.group('maxLag');
  const millis = group.number('millis', undefined, delayMillis);
  const bytes = group.number('bytes', undefined, byteCount);
  group.finish();
  return Object.freeze({ millis: millis ?? (bytes === undefined ? 60_000 : undefined), bytes });
}

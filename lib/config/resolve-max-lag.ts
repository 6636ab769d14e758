import { byteCount, delayMillis } from './number-range.ts';
import type { OptionReader } from './option-reader.ts';
import type { MaxLagSettings } from './settings.ts';

/** Completes `maxLag`: by default a time, in an object only what is given. */
export function resolveMaxLag(reader: OptionReader): MaxLagSettings | false {
  if (reader.read('maxLag') === false) return false;

  const group = reader.group('maxLag');
  const bytes = group.number('bytes', undefined, byteCount);
  const millis = group.number('millis', bytes === undefined ? 60_000 : undefined, delayMillis);
  group.finish();
  return Object.freeze({ millis, bytes });
}

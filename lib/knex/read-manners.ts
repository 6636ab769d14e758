import { delayMillis } from '../config/number-range.ts';
import type { OptionReader } from '../config/option-reader.ts';
import type { Target } from '../config/options.ts';
import { consistencyModes } from '../config/resolve-consistency.ts';
import { assertPossible } from './needs.ts';
import type { SessionManners } from './session-scope.ts';

/**
 * Reads what a session is to do otherwise than its client; what is not given is as the client says.
 *
 * @throws {ConfigError} when an option is not allowed, or not possible with the client's target.
 */
export function readManners(reader: OptionReader, target: Target): SessionManners {
  const consistency = reader.choice('consistency', undefined, consistencyModes);
  if (consistency !== undefined) assertPossible(consistency, target);
  return {
    consistency,
    waitMillis: reader.number('waitMillis', undefined, delayMillis),
    monotonic: reader.choice('monotonic', undefined, [true, false]),
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '../../lib/errors.ts';

/** How {@link eventually} asks. */
export interface Patience {
  /**
   * How long a check may fail, in milliseconds.
   *
   * @default 5000
   */
  readonly withinMillis?: number;
  /**
   * The pause between two checks, in milliseconds.
   *
   * @default 20
   */
  readonly everyMillis?: number;
}

/**
 * Repeats a check until it neither throws nor answers `false`, and returns what it then answers.
 *
 * @throws an error with the message of the check's last one, when it doesn't come to hold in time.
 */
export async function eventually<T>(
  check: () => T | PromiseLike<T>,
  { withinMillis = 5000, everyMillis = 20 }: Patience = {},
): Promise<T> {
  const deadline = performance.now() + withinMillis;
  let times = 0;
  let failure = new Error('the check has not answered.');

  for (;;) {
    times++;
    try {
      const answer = await inTime(check, deadline - performance.now());
      if (answer !== late) {
        if (answer !== false) return answer;
        failure = new Error('the check answered false.');
      }
    } catch (error) {
      failure = asError(error);
    }
    if (performance.now() + everyMillis > deadline) {
      throw new Error(
        `Did not come true within ${withinMillis} ms (checked ${times} times). At last: ${failure.message}`,
        { cause: failure },
      );
    }
    await sleep(everyMillis);
  }
}

const late = Symbol('late');

/** Waits for a check, which may itself hang with what it asks; the first one gets all the time. */
async function inTime<T>(
  check: () => T | PromiseLike<T>,
  millis: number,
): Promise<T | typeof late> {
  const end = new AbortController();
  const timer = sleep(Math.max(millis, 1), late, { signal: end.signal }).catch(() => late);
  try {
    return await Promise.race([(async () => check())(), timer as Promise<typeof late>]);
  } finally {
    end.abort();
  }
}

import type { Clock } from '../clock.ts';

// A timer that fires later than this share of its time was held up by the process itself.
const LATE_SHARE = 0.5;

// A process that is never on time has to come to a conclusion, too.
const MOST_EXTENSIONS = 3;

/**
 * Waits for work until its time is up or `signal` is aborted, and then answers undefined.
 *
 * A stalled process proves nothing: when the time is up much too late, the work gets it once more,
 * and an answer that has arrived by the end, but was not read yet, counts.
 */
export function withinTime<T>(
  work: Promise<T>,
  millis: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let extensions = 0;
    let cancel: (() => void) | undefined;

    const settle = (end: () => void): void => {
      cancel?.();
      signal.removeEventListener('abort', giveUp);
      end();
    };
    const giveUp = (): void => settle(() => resolve(undefined));
    const wait = (): void => {
      const due = clock.now() + millis;
      cancel = clock.after(millis, () => {
        const isLate = clock.now() - due > millis * LATE_SHARE;
        if (isLate && extensions++ < MOST_EXTENSIONS) return wait();

        // Node reads what sockets hold between its timers and its immediates.
        const turn = setImmediate(giveUp);
        cancel = () => clearImmediate(turn);
      });
    };

    signal.addEventListener('abort', giveUp);
    wait();
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

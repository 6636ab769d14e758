import type { Clock } from '../clock.ts';

// A process that stands still lets no part of the time pass but the one in which it did.
const PARTS = 5;

// One that is never on time has to come to a conclusion, too.
const MOST_REPEATS = 5;

/**
 * Waits for work until its time is up or `signal` is aborted, and then answers undefined.
 *
 * Only time in which the process itself was running counts, as long as that is so now and then; and
 * an answer that has arrived by the end, but was not read yet, counts.
 */
export function withinTime<T>(
  work: Promise<T>,
  millis: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  const partMillis = millis / PARTS;
  return new Promise((resolve, reject) => {
    let parts = 0;
    let repeats = 0;
    let cancel: (() => void) | undefined;

    const settle = (end: () => void): void => {
      cancel?.();
      signal.removeEventListener('abort', giveUp);
      end();
    };
    const giveUp = (): void => settle(() => resolve(undefined));
    const wait = (): void => {
      const due = clock.now() + partMillis;
      cancel = clock.after(partMillis, () => {
        const wasHeldUp = clock.now() - due > partMillis;
        if (wasHeldUp && repeats++ < MOST_REPEATS) return wait();
        if (++parts < PARTS) return wait();

        // Node reads what sockets hold between its timers and its immediates.
        const turn = setImmediate(giveUp);
        cancel = () => clearImmediate(turn);
      });
    };

    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    else wait();
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

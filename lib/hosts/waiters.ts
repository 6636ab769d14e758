import type { Clock } from '../clock.ts';

/** How {@link Waiters} wait. */
export interface WaitOptions {
  /**
   * Whether a query waits, for which the process stays alive.
   *
   * @default true
   */
  readonly isQuery?: boolean;
  /**
   * Those of the lowest come first, and of one rank those who came first.
   *
   * @default 0
   */
  readonly rank?: number;
}

/** Those who wait for something to become free, in the order in which they came. */
export class Waiters {
  readonly #waiting = new Map<() => void, number>();

  /** Waits to be woken; false when that did not happen within `millis`. */
  wait(
    millis: number,
    clock: Clock,
    { isQuery = true, rank = 0 }: WaitOptions = {},
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const wake = (): void => {
        stopWaiting();
        resolve(true);
      };
      const giveUp = (): void => {
        this.#waiting.delete(wake);
        resolve(false);
      };
      const time = Math.max(0, millis);
      const stopWaiting = isQuery ? clock.holdFor(time, giveUp) : clock.after(time, giveUp);
      this.#waiting.set(wake, rank);
    });
  }

  /** Wakes the one that comes first; false where nobody waits. */
  wakeOne(): boolean {
    let first: (() => void) | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const [wake, rank] of this.#waiting) {
      if (first === undefined || rank < lowest) [first, lowest] = [wake, rank];
    }
    if (first === undefined) return false;

    this.#waiting.delete(first);
    first();
    return true;
  }

  /** Wakes everyone. */
  wakeAll(): void {
    const woken = [...this.#waiting.keys()];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }
}

import type { Clock } from '../clock.ts';

/** Those who wait for something to become free, in the order in which they came. */
export class Waiters {
  #waiting: (() => void)[] = [];

  /**
   * Waits to be woken; false when that did not happen within `millis`. It is a query that waits, so
   * the process stays alive for it.
   */
  wait(millis: number, clock: Clock): Promise<boolean> {
    return new Promise((resolve) => {
      const wake = (): void => {
        stopWaiting();
        resolve(true);
      };
      const stopWaiting = clock.holdFor(Math.max(0, millis), () => {
        this.#waiting = this.#waiting.filter((other) => other !== wake);
        resolve(false);
      });
      this.#waiting.push(wake);
    });
  }

  /** Wakes the one that has waited longest. */
  wakeOne(): void {
    this.#waiting.shift()?.();
  }

  /** Wakes everyone. */
  wakeAll(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

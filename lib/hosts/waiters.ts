import type { Clock } from '../clock.ts';

/** Those who wait for something to become free, in the order in which they came. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

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
        this.#waiting.delete(wake);
        resolve(false);
      });
      this.#waiting.add(wake);
    });
  }

  /** Wakes the one that has waited longest. */
  wakeOne(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;

    this.#waiting.delete(first);
    first();
  }

  /** Wakes everyone. */
  wakeAll(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }
}

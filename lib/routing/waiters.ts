import type { Clock } from '../clock.ts';

/** Those who wait for something to become free, in the order in which they came. */
export class Waiters {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits to be woken; false when that did not happen within `millis`. */
  wait(millis: number): Promise<boolean> {
    return new Promise((resolve) => {
      const wake = (): void => {
        stopWaiting();
        resolve(true);
      };
      const stopWaiting = this.#clock.after(Math.max(0, millis), () => {
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
}

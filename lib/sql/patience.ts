import type { Clock } from '../clock.ts';

const sulksForMillis = 1000;

/** Waits for answers only so long, and after a disappointment asks nothing for a second. */
export class Patience {
  readonly #clock: Clock;
  readonly #millis: number;
  #sulksUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, millis: number) {
    this.#clock = clock;
    this.#millis = millis;
  }

  /** The answer; undefined where it is late, where asking failed, or where it was not asked for. */
  async wait<T>(ask: () => Promise<T>): Promise<T | undefined> {
    if (this.#clock.now() < this.#sulksUntil) return undefined;

    let cancel: (() => void) | undefined;
    const late = new Promise<undefined>((settle) => {
      cancel = this.#clock.after(this.#millis, () => {
        this.#sulk();
        settle(undefined);
      });
    });
    try {
      return await Promise.race([this.#answer(ask), late]);
    } catch {
      this.#sulk();
      return undefined;
    } finally {
      cancel?.();
    }
  }

  /** An answer that comes after all, however late, shows that asking is of use. */
  async #answer<T>(ask: () => Promise<T>): Promise<T> {
    const answer = await ask();
    this.#sulksUntil = Number.NEGATIVE_INFINITY;
    return answer;
  }

  #sulk(): void {
    this.#sulksUntil = this.#clock.now() + sulksForMillis;
  }
}

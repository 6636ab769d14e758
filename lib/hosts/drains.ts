import type { Clock } from '../clock.ts';

// How long what runs on a host that lost its role may go on.
const DRAIN_MILLIS = 30_000;

/** Gives what runs on connections that are out of date a while to end. */
export class Drains {
  readonly #clock: Clock;
  readonly #cancels = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `end` when the while is over, unless everything is to end anyway. */
  begin(end: (millis: number) => void): void {
    const cancel = this.#clock.after(DRAIN_MILLIS, () => {
      this.#cancels.delete(cancel);
      end(DRAIN_MILLIS);
    });
    this.#cancels.add(cancel);
  }

  /** Ends no more by itself. */
  cancel(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}

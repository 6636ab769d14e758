import type { Clock } from '../../lib/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to advance. */
export class FakeClock implements Clock {
  // Not 0, which lru-cache takes for "no time".
  #now = 1;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  after(millis: number, callback: () => void): () => void {
    const timer = { at: this.#now + millis, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  holdFor(millis: number, callback: () => void): () => void {
    return this.after(millis, callback);
  }

  /** Lets time pass, and runs what falls due, in order, and what that sets for at once. */
  advance(millis: number): void {
    this.#now += millis;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= this.#now).toSorted((a, b) => a.at - b.at);
      if (due.length === 0) return;

      this.#timers = this.#timers.filter(({ at }) => at > this.#now);
      for (const { callback } of due) callback();
    }
  }
}

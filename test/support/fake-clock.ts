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

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.length;
  }

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

  /** Lets time pass, and runs what falls due, each at its own time. */
  advance(millis: number): void {
    const end = this.#now + millis;
    for (;;) {
      const [next] = this.#due(end);
      if (next === undefined) break;

      this.#now = Math.max(this.#now, next.at);
      this.#timers = this.#timers.filter((other) => other !== next);
      next.callback();
    }
    this.#now = end;
  }

  /** Lets time pass in which the process stands still: what has fallen due runs late, at its end. */
  stall(millis: number): void {
    this.#now += millis;
    for (const timer of this.#due(this.#now)) {
      // One that ran before may have cancelled it.
      if (!this.#timers.includes(timer)) continue;
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.callback();
    }
  }

  #due(by: number): Timer[] {
    return this.#timers.filter(({ at }) => at <= by).toSorted((a, b) => a.at - b.at);
  }
}

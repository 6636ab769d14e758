/**
 * Hands things on in their order, each so much later than it came.
 *
 * Timers are late by a millisecond and more, which would count twice what comes in two parts: so
 * the last of the wait is spent looking at the clock.
 */
export class DelayLine<T> {
  readonly #millis: number;
  readonly #deliver: (what: T) => void;
  readonly #waiting: { readonly due: number; readonly what: T }[] = [];
  #isRunning = false;

  constructor(millis: number, deliver: (what: T) => void) {
    this.#millis = millis;
    this.#deliver = deliver;
  }

  push(what: T): void {
    this.#waiting.push({ due: performance.now() + this.#millis, what });
    if (!this.#isRunning) this.#run();
  }

  #run(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const left = next.due - performance.now();
      if (left > 0) {
        this.#isRunning = true;
        const again = (): void => this.#run();
        if (left > 2) setTimeout(again, left - 2);
        else setImmediate(again);
        return;
      }
      this.#waiting.shift();
      this.#deliver(next.what);
    }
    this.#isRunning = false;
  }
}

// For how long a failed check says something of the next one: then a read finds out anew.
const MEMORY_MILLIS = 200;

// A replica that had not replayed a write after so many times its age is not asked before.
const PATIENCE = 2;
const LEAST_MILLIS = 5;

/**
 * Guesses whether a replica can have replayed what was written a moment ago, by how long it took
 * lately: a check that is bound to fail costs a round trip.
 */
export class CatchUp {
  #millis = 0;
  #until = Number.NEGATIVE_INFINITY;

  /** Notes that a write was not replayed `ageMillis` after it. */
  noteBehind(ageMillis: number, now: number): void {
    const expected = PATIENCE * ageMillis + LEAST_MILLIS;
    this.#millis = Math.max(this.#millisAt(now), expected);
    this.#until = now + MEMORY_MILLIS;
  }

  /** Notes that a write had been replayed `ageMillis` after it. */
  noteReached(ageMillis: number): void {
    this.#millis = Math.min(this.#millis, ageMillis);
  }

  /** Whether a check of a write of that age is bound to fail. */
  isHopeless(ageMillis: number, now: number): boolean {
    return ageMillis < this.#millisAt(now);
  }

  #millisAt(now: number): number {
    return now < this.#until ? this.#millis : 0;
  }
}

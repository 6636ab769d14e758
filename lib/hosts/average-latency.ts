// Share of the newest sample, at least: about the last ten queries count.
const NEWEST_SHARE = 0.2;

// An average that is so old counts for nothing: a host that is seldom asked would seem slow for long.
const OLD_MILLIS = 20_000;

/** A moving average of how long the queries of a host take. */
export class AverageLatency {
  /** In milliseconds; 0 while nothing was seen. */
  millis = 0;
  #notedAt = 0;

  /** Takes in how long a query took that ended at `now`. */
  note(millis: number, now: number): void {
    const age = (now - this.#notedAt) / OLD_MILLIS;
    const share = this.millis === 0 ? 1 : Math.min(Math.max(age, NEWEST_SHARE), 1);
    this.millis += share * (millis - this.millis);
    this.#notedAt = now;
  }

  /** Begins anew. */
  forget(): void {
    this.millis = 0;
  }
}

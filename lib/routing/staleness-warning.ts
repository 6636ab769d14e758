import type { Clock } from '../clock.ts';

const WINDOW_MILLIS = 60_000;

// Of fewer reads in a minute nobody has to hear.
const LEAST_READS = 100;

const ADVICE =
  'knex-rwsplit: within a minute, the primary served most reads of sessions, as no replica had what ' +
  'their session wrote. Give each request or job a session of its own (rwSplit(db).session(), ' +
  "sessionMiddleware()), let reads wait for a replica (consistency.waitMillis), or read with the consistency 'eventual' " +
  'what need not be current.';

/** Warns once where replicas serve little, as the reads of a session so often come right after its writes. */
export class StalenessWarning {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  #since = Number.NEGATIVE_INFINITY;
  #reads = 0;
  #stale = 0;
  #hasWarned = false;

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Counts a read, and whether it went to the primary for no other reason. */
  note(isForStaleness: boolean): void {
    if (this.#hasWarned) return;

    const now = this.#clock.now();
    if (now - this.#since >= WINDOW_MILLIS) this.#begin(now);
    this.#reads++;
    if (isForStaleness) this.#stale++;
  }

  #begin(now: number): void {
    const isMuch = this.#reads >= LEAST_READS && this.#stale > this.#reads / 2;
    this.#since = now;
    this.#reads = 0;
    this.#stale = 0;
    if (!isMuch) return;
    this.#hasWarned = true;
    this.#warn(ADVICE);
  }
}

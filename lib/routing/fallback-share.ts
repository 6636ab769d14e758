import type { Clock } from '../clock.ts';
import type { Host } from '../hosts/host.ts';
import { Waiters } from '../hosts/waiters.ts';

/**
 * Limits how many connections of the primary are held by reads that found no replica.
 *
 * Without it, losing the replicas would take the writes down with the reads.
 */
export class FallbackShare {
  readonly #share: number;
  readonly #clock: Clock;
  #held = 0;
  readonly #waiters: Waiters = new Waiters();

  /** @param share of the host's pool, from above 0 to 1; one connection at the least. */
  constructor(share: number, clock: Clock) {
    this.#share = share;
    this.#clock = clock;
  }

  /** Takes a place, waiting for one if need be; false when none became free within `millis`. */
  async enter({ pool }: Host, millis: number): Promise<boolean> {
    const limit = Math.max(1, Math.floor(pool.maximum * this.#share));
    const deadline = this.#clock.now() + millis;
    while (this.#held >= limit) {
      const isWoken = await this.#waiters.wait(deadline - this.#clock.now(), this.#clock);
      if (!isWoken) return false;
    }
    this.#held++;
    return true;
  }

  /** Gives a place back. */
  leave(): void {
    this.#held--;
    this.#waiters.wakeOne();
  }
}

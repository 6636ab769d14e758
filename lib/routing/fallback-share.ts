import type { Clock } from '../clock.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Host } from '../hosts/host.ts';
import { Waiters } from '../hosts/waiters.ts';

/** Other hosts serve again, so nobody needs to wait for a place. */
export class NeedlessWait extends Error {}

/**
 * Limits how many connections of the primary are held by reads that found no replica.
 *
 * Without it, losing the replicas would take the writes down with the reads.
 */
export class FallbackShare {
  readonly #share: number;
  readonly #clock: Clock;
  #held = 0;
  #dismissals = 0;
  readonly #waiters: Waiters = new Waiters();

  /** @param share of the host's pool, from above 0 to 1; one connection at the least. */
  constructor(share: number, clock: Clock) {
    this.#share = share;
    this.#clock = clock;
  }

  /**
   * Takes a place, waiting for one if need be; false when none became free within `millis`.
   *
   * @throws {NeedlessWait} when those who wait are dismissed.
   */
  async enter({ pool }: Host, millis: number): Promise<boolean> {
    const limit = Math.max(1, Math.floor(pool.maximum * this.#share));
    const deadline = this.#clock.now() + millis;
    const dismissals = this.#dismissals;
    while (this.#held >= limit) {
      const isWoken = await this.#waiters.wait(deadline - this.#clock.now(), this.#clock);
      if (!isWoken) return false;
      if (dismissals !== this.#dismissals) throw new NeedlessWait();
    }
    this.#held++;
    return true;
  }

  /** Lets all who wait look for another host. */
  dismiss(): void {
    this.#dismissals++;
    this.#waiters.wakeAll();
  }

  /** Gives a place back. */
  leave(): void {
    this.#held--;
    this.#waiters.wakeOne();
  }
}

/** Makes the share of a cluster, which nobody waits for once other hosts serve again. */
export function fallbackShareOf(cluster: Cluster, share: number, clock: Clock): FallbackShare {
  const made = new FallbackShare(share, clock);
  cluster.changes.follow(() => {
    if (cluster.routable.readers.length > 0) made.dismiss();
  });
  return made;
}

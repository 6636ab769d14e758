import type { Clock } from '../clock.ts';
import { Waiters } from './waiters.ts';

// A timer that is so late says nothing of the servers.
const LATE_MILLIS = 1000;

/** Lets queries wait for something to change in the cluster, without missing what changed meanwhile. */
export class Changes {
  readonly #clock: Clock;
  readonly #waiters: Waiters = new Waiters();
  readonly #followers: (() => void)[] = [];
  #count = 0;
  #hasEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many changes there were so far. */
  get count(): number {
    return this.#count;
  }

  /** Whether there will be no change any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Tells `follower` of each change from here on. */
  follow(follower: () => void): void {
    this.#followers.push(follower);
  }

  /** Tells all who wait of a change. */
  note(): void {
    this.#count++;
    this.#waiters.wakeAll();
    for (const tell of this.#followers) tell();
  }

  /** Lets nobody wait any longer: there will be no change. */
  end(): void {
    this.#hasEnded = true;
    this.#waiters.wakeAll();
  }

  /** Waits for a change after the first `count`; false when none came within `millis`, or none will. */
  async after(count: number, millis: number): Promise<boolean> {
    if (this.#hasEnded) return false;
    if (this.#count !== count) return true;
    const due = this.#clock.now() + millis;
    if (await this.#waiters.wait(millis, this.#clock)) return !this.#hasEnded;
    // The process itself was held up, and has yet to hear of what changed meanwhile.
    const wasHeldUp = this.#clock.now() - due > LATE_MILLIS;
    if (!wasHeldUp || this.#hasEnded) return false;
    return (await this.#waiters.wait(LATE_MILLIS, this.#clock)) && !this.#hasEnded;
  }
}

import type { Clock } from '../clock.ts';
import { Dialling } from './dialling.ts';

/** While a host recovers, this many of its connections open at a time. */
const FEW = 2;

// How long a server that has no connection left is not asked for another.
const REST_MILLIS = 1000;

/**
 * Lets the connections of one host open: any number at a time, few while the host recovers, none
 * right after the server had none left.
 *
 * A pool that fills up at once is what a recovering server needs least.
 */
export class ConnectGate {
  /** What is being opened: whoever asks for a connection may have to wait behind it. */
  readonly dialling: Dialling;
  /** Told when a connection may be opened that could not be before. */
  onOpen: () => void = () => undefined;
  /** Told when none may be opened for a moment. */
  onRest: () => void = () => undefined;
  readonly #clock: Clock;
  #opening = 0;
  #isCareful: () => boolean = () => false;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #refusal: Error | undefined;
  readonly #waiting: (() => void)[] = [];

  /** @param dialling what is being opened, where that can be given up. */
  constructor(clock: Clock, dialling: Dialling = new Dialling()) {
    this.#clock = clock;
    this.dialling = dialling;
  }

  /** What the server said when it had no connection left; undefined once it may be asked again. */
  get refusal(): Error | undefined {
    return this.#clock.now() < this.#restsUntil ? this.#refusal : undefined;
  }

  /** Whether a connection may be opened at this moment. */
  get isOpen(): boolean {
    if (this.#clock.now() < this.#restsUntil) return false;
    return this.#opening < FEW || !this.#isCareful();
  }

  /** Opens few at a time for as long as `isCareful` says. */
  beCareful(isCareful: () => boolean): void {
    this.#isCareful = isCareful;
  }

  /** Opens none for a moment, as the server has none left. */
  rest(refusal: Error): void {
    this.#refusal = refusal;
    const end = this.#clock.now() + REST_MILLIS;
    this.#restsUntil = end;
    this.onRest();
    this.#clock.after(REST_MILLIS, () => {
      // A timer may fire a little before its time, and nobody would wake them later.
      if (this.#restsUntil === end) this.#restsUntil = Number.NEGATIVE_INFINITY;
      this.#next();
    });
  }

  /** Opens a connection once there is a place for it. */
  async pass<T>(open: () => Promise<T>): Promise<T> {
    while (!this.isOpen) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }

    this.#opening++;
    try {
      return await open();
    } finally {
      this.#opening--;
      this.#next();
    }
  }

  /** Lets everyone through, as when the pool is to be destroyed. */
  release(): void {
    this.#restsUntil = Number.NEGATIVE_INFINITY;
    this.#isCareful = () => false;
    this.#next();
  }

  // Each looks again for itself.
  #next(): void {
    for (const wake of this.#waiting.splice(0)) wake();
    this.onOpen();
  }
}

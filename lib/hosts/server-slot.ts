import type { Clock } from '../clock.ts';
import type { Connection } from './host.ts';
import { sever } from './sever.ts';
import { whenClosed } from './when-closed.ts';

// How long a statement may go on whose connection was given up.
const NOTICE_MILLIS = 1000;

// How long a server may take to close a connection of which nothing is wanted any more.
const CLOSE_MILLIS = 1000;

// After so long a connection that was severed counts as closed, whatever its driver says of it.
const FORGET_MILLIS = 5000;

/** What a {@link ServerSlot} tells. */
export interface SlotEvents {
  readonly onFree: (slot: ServerSlot) => void;
}

/** One connection's place in the budget of a server, from before it is dialled until the server has closed it. */
export class ServerSlot {
  readonly #clock: Clock;
  readonly #onFree: (slot: ServerSlot) => void;
  readonly #clients = new Set<Connection>();
  #state: 'opening' | 'open' | 'over' | 'free' = 'opening';
  #isClosing = false;
  #changedAt: number;
  #cancelTimers: () => void = () => undefined;
  #isWatched = false;

  constructor(clock: Clock, { onFree }: SlotEvents) {
    this.#clock = clock;
    this.#onFree = onFree;
    this.#changedAt = clock.now();
  }

  /** Whether it is about to be free. */
  get isClosing(): boolean {
    return this.#isClosing && !this.isFree;
  }

  /** Since when its connection is being opened, or closed, on the clock; undefined where it is neither. */
  get changesSince(): number | undefined {
    return this.isOpening || this.isClosing ? this.#changedAt : undefined;
  }

  /** Whether its connection is yet to be open. */
  get isOpening(): boolean {
    return this.#state === 'opening';
  }

  /** Whether nothing holds it any more. */
  get isFree(): boolean {
    return this.#state === 'free';
  }

  /** Holds the place for a driver's client that is about to dial, until its server has closed it. */
  adopt(client: Connection): void {
    const isTold = whenClosed(client, this.#clock, NOTICE_MILLIS, () => {
      this.#clients.delete(client);
      this.#look();
    });
    if (!isTold) return;
    this.#isWatched = true;
    this.#clients.add(client);
  }

  /** Notes that the connection is open. */
  opened(): void {
    if (this.#state === 'opening') this.#state = 'open';
    this.#look();
  }

  /** Notes that the connection is being ended. */
  closing(): void {
    if (!this.#isClosing) this.#changedAt = this.#clock.now();
    this.#isClosing = true;
  }

  /** Notes that the driver has ended the connection, or has failed to open it. */
  over(): void {
    if (this.#state === 'over' || this.isFree) return;
    this.closing();
    this.#state = 'over';
    this.#look();
    if (this.isFree) return;
    const cancelClose = this.#clock.after(CLOSE_MILLIS, () => {
      for (const client of this.#clients) sever(client, late);
    });
    const cancelForget = this.#clock.after(FORGET_MILLIS, () => {
      this.#clients.clear();
      this.#look();
    });
    this.#cancelTimers = () => {
      cancelClose();
      cancelForget();
    };
  }

  /** Ends the connection that is yet to be open, of which nothing is heard any more. */
  giveUp(): void {
    if (!this.isOpening) return;
    this.over();
    for (const client of this.#clients) sever(client, late);
  }

  #look(): void {
    if (this.isFree || this.#state === 'opening' || this.#clients.size > 0) return;
    // Of an open connection that nothing tells of, the pool alone knows.
    if (this.#state === 'open' && !this.#isWatched) return;
    this.#state = 'free';
    this.#cancelTimers();
    this.#onFree(this);
  }
}

function late(): Error {
  return new Error('The server did not close the connection.');
}

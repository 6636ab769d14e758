import type { Clock } from '../clock.ts';
import type { Connection } from './host.ts';
import { Waiters } from './waiters.ts';
import { whenClosed } from './when-closed.ts';

// What a probe asks takes no time: a server that hangs notices later than any wait, another one at once.
const NOTICE_MILLIS = 200;

/** The connections of probes to one server, from before they are dialled until the server has closed them. */
export class ProbeCount {
  readonly #clock: Clock;
  readonly #onClosed: () => void;
  readonly #open = new Set<Connection>();
  readonly #waiters: Waiters = new Waiters();

  constructor(clock: Clock, onClosed: () => void) {
    this.#clock = clock;
    this.#onClosed = onClosed;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Counts the driver's client of a probe in, which is about to be dialled. */
  add(client: Connection): void {
    const onClosed = (): void => {
      this.#open.delete(client);
      if (this.size === 0) this.#waiters.wakeAll();
      this.#onClosed();
    };
    if (whenClosed(client, this.#clock, NOTICE_MILLIS, onClosed)) this.#open.add(client);
  }

  /** Resolves once none is open, or with false after `millis`. */
  whenClosed(millis: number): Promise<boolean> {
    if (this.size === 0) return Promise.resolve(true);
    return this.#waiters.wait(millis, this.#clock, { isQuery: false });
  }
}

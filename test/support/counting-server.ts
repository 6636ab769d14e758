import { EventEmitter } from 'node:events';
import type { Clock } from '../../lib/clock.ts';
import type { ServerSlot } from '../../lib/hosts/server-slot.ts';

// How long it takes a server to notice that a connection was given up.
const NOTICE_MILLIS = 900;

/** A connection without a network, which ends as those of `pg` do. */
export class CountedConnection extends EventEmitter {
  readonly connection: { stream: { readableEnded: boolean; destroy(): void } };
  readonly #server: CountingServer;
  #isDropped = false;

  constructor(server: CountingServer) {
    super();
    this.#server = server;
    this.connection = { stream: { readableEnded: false, destroy: () => this.drop() } };
  }

  /** Ends as the server closes it. */
  close(): void {
    if (this.#isDropped || !this.#server.seen.delete(this)) return;
    this.connection.stream.readableEnded = true;
    this.emit('end');
  }

  /** Ends from this side, which the server notices later. */
  drop(): void {
    if (!this.#server.seen.has(this) || this.#isDropped) return;
    this.#isDropped = true;
    this.#server.clock.after(NOTICE_MILLIS, () => this.#server.seen.delete(this));
    this.emit('end');
  }
}

/** What a server sees of the connections to it. */
export class CountingServer {
  readonly seen: Set<CountedConnection> = new Set();
  /** The most at a time. */
  most = 0;
  readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Dials, in the place of a budget. */
  dial(slot: ServerSlot | undefined): CountedConnection {
    const connection = new CountedConnection(this);
    slot?.adopt(connection);
    this.seen.add(connection);
    this.most = Math.max(this.most, this.seen.size);
    return connection;
  }
}

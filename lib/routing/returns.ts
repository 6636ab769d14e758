import { connectionState, settled } from '../hosts/connection-state.ts';
import type { Connection, Host } from '../hosts/host.ts';
import type { ReuseParts } from './is-reusable.ts';
import { isReusable, SETTLE_MILLIS } from './is-reusable.ts';
import type { Lease } from './lease.ts';
import type { LockKeeper } from './lock-keeper.ts';

/** What {@link Returns} work with. */
export interface ReturnsParts extends ReuseParts {
  readonly locks: LockKeeper;
}

/** Takes connections back: into their pool, out of it while they hold locks, or to their end. */
export class Returns {
  readonly #parts: ReturnsParts;

  constructor(parts: ReturnsParts) {
    this.#parts = parts;
  }

  /** Takes back the connection of an ended lease; a promise where that needs the server. */
  takeBack(lease: Lease): Promise<void> | undefined {
    const { host, connection, mayHoldLocks } = lease;
    if (mayHoldLocks) return this.#parts.locks.awaitKeeping(this.#keepOrRelease(lease));
    this.toPool(host, connection);
    return undefined;
  }

  /** Gives a connection to its pool, if another query may have it as it is. */
  toPool(host: Host, connection: Connection): void {
    const answer = isReusable(connection, this.#parts);
    if (typeof answer === 'boolean') this.#leave(host, connection, answer);
    else void answer.then((isFit) => this.#leave(host, connection, isFit));
  }

  #leave(host: Host, connection: Connection, isFit: boolean): void {
    this.#parts.states.leave(connection);
    if (isFit) host.pool.release(connection);
    else void host.pool.discard(connection);
  }

  async #keepOrRelease({ host, connection, lockPlace: place, isReadToEnd }: Lease): Promise<void> {
    try {
      // A stream closes with its last row, and the server has yet to say that it has ended.
      if (isReadToEnd && connectionState(connection) === 'busy') {
        await settled(connection, this.#parts.clock, SETTLE_MILLIS);
      }
      // Given up while it waits for its lock: nobody would know of the lock that it may get.
      // And a lock taken inside a transaction that was left open is of no use to anybody.
      const isLost = ['busy', 'given up', 'transaction'].includes(connectionState(connection));
      const keeping = isLost
        ? 'full'
        : await this.#parts.locks.keep(host, connection, place !== undefined);
      if (keeping === 'full') await host.pool.discard(connection);
      if (keeping === 'free') this.toPool(host, connection);
    } finally {
      place?.();
    }
  }
}

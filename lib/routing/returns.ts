import type { Clock } from '../clock.ts';
import { connectionState, settled } from '../hosts/connection-state.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { asTexts, runQuery } from '../hosts/run-query.ts';
import type { SessionStates } from '../state/session-states.ts';
import type { Lease } from './lease.ts';
import type { LockKeeper } from './lock-keeper.ts';
import type { SessionChanges } from './session-changes.ts';

// How long a connection that is given back may take to end its last statement.
const SETTLE_MILLIS = 1000;

/** What {@link Returns} work with. */
export interface ReturnsParts {
  readonly clock: Clock;
  readonly locks: LockKeeper;
  readonly sessionChanges: SessionChanges;
  readonly states: SessionStates;
}

// Statements that a driver prepared by name hold nothing of anybody.
const IS_CLEAN = `select pg_catalog.pg_my_temp_schema() = 0
    and not exists (select from pg_catalog.pg_cursors where is_holdable)
    and not exists (select from pg_catalog.pg_prepared_statements where from_sql)
    and not exists (select from pg_catalog.pg_listening_channels()) as "isClean"`;

/** Takes connections back: into their pool, out of it while they hold locks, or to their end. */
export class Returns {
  readonly #parts: ReturnsParts;

  constructor(parts: ReturnsParts) {
    this.#parts = parts;
  }

  /** Takes back the connection of an ended lease; a promise where that needs the server. */
  takeBack(lease: Lease): Promise<void> | undefined {
    const { host, connection, mayHoldLocks, lockPlace } = lease;
    if (mayHoldLocks) return this.#keepOrRelease(host, connection, lockPlace);
    this.toPool(host, connection);
    return undefined;
  }

  /** Gives a connection to its pool, if another query may have it as it is. */
  toPool(host: Host, connection: Connection): void {
    const { sessionChanges, states } = this.#parts;
    const isSpoilt = sessionChanges.has(connection) || states.isLost(connection);
    const state = isSpoilt ? 'given up' : connectionState(connection);
    // What was sent before it was given back runs in the state that it was sent in.
    if (state === 'busy') return void this.#toPoolWhenSettled(host, connection);
    if (state === 'ready' && states.mayHaveLeftovers(connection)) {
      return void this.#toPoolIfClean(host, connection);
    }
    states.leave(connection);
    if (state === 'transaction' || state === 'given up') {
      void host.pool.discard(connection);
    } else {
      // One that has ended, too: its pool finds out.
      host.pool.release(connection);
    }
  }

  // An error comes before the server says how it left the session; a closed stream, or a statement
  // that was given up, may still be running.
  async #toPoolWhenSettled(host: Host, connection: Connection): Promise<void> {
    if (await settled(connection, this.#parts.clock, SETTLE_MILLIS)) this.toPool(host, connection);
    else await host.pool.discard(connection);
  }

  // What a procedure left in the session would be the next tenant's.
  async #toPoolIfClean(host: Host, connection: Connection): Promise<void> {
    this.#parts.states.hasNoLeftovers(connection);
    const isClean = await isCleanSession(connection);
    if (isClean) this.toPool(host, connection);
    else await host.pool.discard(connection);
  }

  async #keepOrRelease(
    host: Host,
    connection: Connection,
    place: (() => void) | undefined,
  ): Promise<void> {
    try {
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

async function isCleanSession(connection: Connection): Promise<boolean> {
  try {
    const [answer] = await runQuery(connection, { text: IS_CLEAN, types: asTexts });
    return answer?.['isClean'] === 't';
  } catch {
    return false;
  }
}

import { SessionStateError } from '../errors.ts';
import type { Connection, Host } from '../hosts/host.ts';
import type { DetachedConnection } from '../hosts/pool.ts';

/** Says whether a connection holds session-level advisory locks, asking its server. */
export type HoldsLocks = (connection: Connection) => Promise<boolean>;

/** A connection that is out of its pool because its session holds advisory locks. */
export interface KeptConnection {
  readonly host: Host;
  readonly connection: Connection;
  readonly detached: DetachedConnection<Connection>;
}

/**
 * Keeps connections whose session holds advisory locks out of their pool.
 *
 * PostgreSQL grants a lock again to the session that has it, and only that session can give it
 * back: such a connection must serve neither another lock nor anything else.
 */
export class LockKeeper {
  readonly #max: number;
  readonly #holdsLocks: HoldsLocks;
  readonly #warn: (message: string) => void;
  readonly #kept: KeptConnection[] = [];
  #unlocking: Promise<unknown> = Promise.resolve();
  #hasWarned = false;
  #isDestroyed = false;

  constructor(max: number, holdsLocks: HoldsLocks, warn: (message: string) => void) {
    this.#max = max;
    this.#holdsLocks = holdsLocks;
    this.#warn = warn;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** @throws {SessionStateError} when as many connections are kept as may be. */
  async assertRoom(): Promise<void> {
    if (this.#kept.length < this.#max) return;
    // Locks end with their session, by whoever ended it.
    await this.unlockWith(() => Promise.resolve());
    if (this.#kept.length < this.#max) return;
    throw new SessionStateError(
      `${this.#kept.length} connections are kept out of the pool for the advisory locks of their sessions, ` +
        'which is the limit (pool.max); unlock some, or use pg_advisory_xact_lock in knex.transaction().',
    );
  }

  /** Takes a used connection out of its pool if its session holds a lock; false when it holds none. */
  async keep(host: Host, connection: Connection): Promise<boolean> {
    if (!(await this.#asksTrue(connection)) || this.#isDestroyed) return false;

    const detached = host.pool.detach(connection);
    if (detached === undefined) return false;

    this.#kept.push({ host, connection, detached });
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      this.#warn(
        'A session-level advisory lock was taken outside a transaction: its connection stays out of the pool until the lock is given back. Prefer pg_advisory_xact_lock in knex.transaction().',
      );
    }
    return true;
  }

  /** Runs `unlock` with the kept connections, while no other unlock has them. */
  async unlockWith<T>(unlock: (kept: readonly KeptConnection[]) => Promise<T>): Promise<T> {
    const run = this.#unlocking.then(async () => {
      const kept = [...this.#kept];
      try {
        return await unlock(kept);
      } finally {
        await Promise.all(kept.map((one) => this.#reconsider(one)));
      }
    });
    this.#unlocking = run.catch(() => undefined);
    return run;
  }

  /** Ends every kept connection, and with it the locks of its session. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    const kept = this.#kept.splice(0);
    await Promise.all(kept.map(({ host, connection }) => host.pool.end(connection)));
  }

  async #reconsider(kept: KeptConnection): Promise<void> {
    if (await this.#asksTrue(kept.connection)) return;

    const index = this.#kept.indexOf(kept);
    if (index === -1) return;
    this.#kept.splice(index, 1);
    await kept.host.pool.attach(kept.detached);
  }

  // A connection that can't answer has lost its session and its locks; its pool finds it dead.
  async #asksTrue(connection: Connection): Promise<boolean> {
    try {
      return await this.#holdsLocks(connection);
    } catch {
      return false;
    }
  }
}

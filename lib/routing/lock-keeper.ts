import type { Clock } from '../clock.ts';
import { SessionStateError } from '../errors.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { Waiters } from '../hosts/waiters.ts';
import { hasEnded, isLost } from './kept-connection.ts';
import type { KeptConnection } from './kept-connection.ts';

/** Says whether a connection holds session-level advisory locks, asking its server. */
export type HoldsLocks = (connection: Connection) => Promise<boolean>;

/** What became of a connection that may hold locks: `kept`, `free` of locks, or one too many. */
export type Keeping = 'kept' | 'free' | 'full';

/** What a {@link LockKeeper} works with. */
export interface LockKeeperParts {
  /** How many connections are kept at most. */
  readonly max: number;
  readonly holdsLocks: HoldsLocks;
  /** Says whether a connection without locks may be handed out again as it is. */
  readonly isReusable: (connection: Connection) => boolean | Promise<boolean>;
  /** Lets a connection be used again on which somebody's session state was refused. */
  readonly mend?: ((connection: Connection) => void) | undefined;
  readonly warn: (message: string) => void;
  readonly clock: Clock;
  /** How long a lock statement waits for a place that another one may not need, in milliseconds. */
  readonly waitMillis: number;
}

// A server that doesn't say whether a session holds locks is not waited for longer.
const ANSWER_MILLIS = 2000;

/**
 * Keeps connections whose session holds advisory locks out of their pool.
 *
 * PostgreSQL grants a lock again to the session that has it, and only that session can give it
 * back: such a connection must serve neither another lock nor anything else.
 */
export class LockKeeper {
  readonly #parts: LockKeeperParts;
  readonly #kept: KeptConnection[] = [];
  readonly #coming = new Set<Promise<void>>();
  #unlocking: Promise<unknown> = Promise.resolve();
  readonly #waiters: Waiters = new Waiters();
  #reserved = 0;
  #hasWarned = false;
  #isDestroyed = false;

  constructor(parts: LockKeeperParts) {
    this.#parts = parts;
  }

  /** How many connections are kept, or may be as soon as it is known whether they hold locks. */
  get size(): number {
    return this.#kept.length + this.#coming.size;
  }

  /** Has unlock statements wait for a connection of which it is yet to be known whether it is kept. */
  async awaitKeeping(keeping: Promise<void>): Promise<void> {
    this.#coming.add(keeping);
    try {
      await keeping;
    } finally {
      this.#coming.delete(keeping);
    }
  }

  /**
   * Reserves a place for a connection that is about to take a lock.
   *
   * @returns what gives the place back.
   * @throws {SessionStateError} when as many connections are kept as may be.
   */
  async reserve(): Promise<() => void> {
    const { clock, max, waitMillis } = this.#parts;
    const deadline = clock.now() + waitMillis;
    while (this.#isFull()) {
      // Locks end with their session, by whoever ended it.
      if (this.#kept.length >= max) await this.unlockWith(() => Promise.resolve());
      if (this.#kept.length >= max) {
        // Whoever waits behind this one waits in vain, too.
        this.#waiters.wakeOne();
        throw this.#refusal();
      }
      // Others are about to take locks, and may get none.
      if (this.#isFull() && !(await this.#waiters.wait(deadline - clock.now(), clock))) {
        throw this.#refusal();
      }
    }

    this.#reserved++;
    return () => {
      this.#reserved--;
      this.#waiters.wakeOne();
    };
  }

  /** Takes a used connection out of its pool if its session holds a lock and there is a place for it. */
  async keep(host: Host, connection: Connection, hasPlace: boolean): Promise<Keeping> {
    const answer = await this.#holdsLocks(connection);
    if (answer === 'unknown') return 'full';
    if (answer === 'none' || this.#isDestroyed) return 'free';
    if (!hasPlace && this.#isFull()) return 'full';

    const detached = host.pool.detach(connection);
    if (detached === undefined) return 'free';

    this.#kept.push({ host, connection, detached });
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      this.#parts.warn(
        'A session-level advisory lock was taken outside a transaction: its connection stays out of the pool until the lock is given back. Prefer pg_advisory_xact_lock in knex.transaction().',
      );
    }
    return 'kept';
  }

  /** Runs `unlock` with the kept connections, while no other unlock has them. */
  async unlockWith<T>(unlock: (kept: readonly KeptConnection[]) => Promise<T>): Promise<T> {
    const run = this.#unlocking.then(async () => {
      await Promise.allSettled(this.#coming);
      await Promise.all(this.#kept.filter(hasEnded).map((one) => this.#drop(one)));
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
    this.#waiters.wakeAll();
    await Promise.all(kept.map(({ host, connection }) => host.pool.end(connection)));
  }

  #refusal(): SessionStateError {
    return new SessionStateError(
      `${this.#kept.length} connections are kept out of the pool for the advisory locks of their sessions ` +
        `(and ${this.#reserved} more are about to take one), as many as may be (pool.max); unlock some, ` +
        'or use pg_advisory_xact_lock in knex.transaction().',
    );
  }

  #isFull(): boolean {
    return this.#kept.length + this.#reserved >= this.#parts.max;
  }

  async #reconsider(kept: KeptConnection): Promise<void> {
    // What failed for whoever unlocks here is nothing to those whose locks these are.
    this.#parts.mend?.(kept.connection);
    const answer = isLost(kept) ? 'unknown' : await this.#holdsLocks(kept.connection);
    if (answer === 'some') return;

    const { host, connection, detached } = kept;
    const isFit = answer === 'none' && (await this.#parts.isReusable(connection));
    if (!isFit) return this.#drop(kept);
    if (this.#remove(kept)) await host.pool.attach(detached);
  }

  // With its session, its locks have ended or end now.
  async #drop(kept: KeptConnection): Promise<void> {
    if (this.#remove(kept)) await kept.host.pool.end(kept.connection);
  }

  #remove(kept: KeptConnection): boolean {
    const index = this.#kept.indexOf(kept);
    if (index === -1) return false;
    this.#kept.splice(index, 1);
    this.#waiters.wakeOne();
    return true;
  }

  async #holdsLocks(connection: Connection): Promise<'some' | 'none' | 'unknown'> {
    return new Promise((resolve) => {
      const stopWaiting = this.#parts.clock.after(ANSWER_MILLIS, () => resolve('unknown'));
      this.#parts
        .holdsLocks(connection)
        .then(
          (holds) => resolve(holds ? 'some' : 'none'),
          () => resolve('unknown'),
        )
        .finally(stopWaiting);
    });
  }
}

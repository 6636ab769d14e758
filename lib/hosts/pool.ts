import { Pool, TimeoutError } from 'tarn';

/** How a {@link HostPool} makes, checks and ends the connections of its host; tarn's own options. */
export interface PoolSettings<C> {
  readonly create: () => Promise<C>;
  readonly validate: (connection: C) => Promise<boolean> | boolean;
  readonly destroy: (connection: C) => unknown;
  /**
   * Says at once that an idle connection can be used; absent where that takes more than a look,
   * so that every acquire has to validate.
   */
  readonly isUsable?: ((connection: C) => boolean) | undefined;
  readonly min: number;
  readonly max: number;
  readonly acquireTimeoutMillis: number;
  readonly createTimeoutMillis?: number | undefined;
  readonly propagateCreateError?: boolean | undefined;
}

/** What a pool holds at a moment. */
export interface PoolStats {
  readonly used: number;
  readonly free: number;
  /** Acquires that wait for a connection. */
  readonly pending: number;
  readonly max: number;
}

/** A started acquire, as tarn gives it to those who call `client.pool.acquire()`. */
export interface PendingAcquire<C> {
  readonly promise: Promise<C>;
  abort(): void;
}

/** A connection outside of its pool; tarn's own record of it. */
export type DetachedConnection<C extends object> = HostPool<C>['used'][number];

/** Whether an acquire failed because no connection became free in time: load, not a dead host. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof TimeoutError;
}

/**
 * The connections of one host: tarn, and what it lacks.
 *
 * The only file that knows tarn.
 */
export class HostPool<C extends object> extends Pool<C> {
  readonly minimum: number;
  readonly maximum: number;
  readonly #isUsable: ((connection: C) => boolean) | undefined;

  constructor({ isUsable, ...settings }: PoolSettings<C>) {
    // tarn awaits `validate`; its types say that it does not.
    super(settings as unknown as ConstructorParameters<typeof Pool<C>>[0]);
    this.minimum = settings.min;
    this.maximum = settings.max;
    this.#isUsable = isUsable;
  }

  get stats(): PoolStats {
    return {
      used: this.used.length,
      free: this.free.length,
      pending: this.pendingAcquires.length,
      max: this.maximum,
    };
  }

  /** Whether an acquire would be served without waiting for another query to end. */
  hasRoom(): boolean {
    // Free and new connections alike are those not in use; whoever already waits comes first.
    return this.maximum - this.used.length > this.pendingAcquires.length;
  }

  /** Whether a connection of this pool is in use. */
  isUsing(connection: C): boolean {
    return this.used.some((used) => used.resource === connection);
  }

  // tarn would let whoever asks a destroyed pool wait for the whole time limit.
  override acquire(): ReturnType<Pool<C>['acquire']> {
    const pending = super.acquire();
    if (this.destroyed) pending.abort();
    return pending;
  }

  /**
   * Takes an idle connection at once, without the promises and the timer of an acquire.
   *
   * @returns undefined where none is idle, where someone already waits, or where it has to be validated.
   */
  takeNow(): C | undefined {
    const idle = this.free.at(-1);
    if (idle === undefined || this.pendingAcquires.length > 0 || this.destroyed) return undefined;
    if (this.#isUsable?.(idle.resource) !== true) return undefined;

    const eventId = this.eventId++;
    this._executeEventHandlers('acquireRequest', eventId);
    this.free.pop();
    this.used.push(idle);
    this._startReaping();
    this._executeEventHandlers('acquireSuccess', eventId, idle.resource);
    return idle.resource;
  }

  /** Acquires within `millis` instead of the pool's own limit. */
  acquireWithin(millis: number): PendingAcquire<C> {
    // tarn reads the limit while `acquire` runs, and nowhere later.
    const limit = this.acquireTimeoutMillis;
    this.acquireTimeoutMillis = Math.max(1, millis);
    try {
      return this.acquire();
    } finally {
      this.acquireTimeoutMillis = limit;
    }
  }

  /**
   * Takes a connection that is in use out of the pool, which may open another in its place.
   *
   * @returns what {@link HostPool.attach} takes back, or undefined when the connection isn't in use here.
   */
  detach(connection: C): DetachedConnection<C> | undefined {
    const index = this.used.findIndex((used) => used.resource === connection);
    if (index === -1) return undefined;

    const [detached] = this.used.splice(index, 1);
    detached?.settle();
    this._tryAcquireOrCreate();
    return detached;
  }

  /** Takes a detached connection back, or ends it where the pool has filled up meanwhile. */
  async attach(detached: DetachedConnection<C>): Promise<void> {
    const held = this.used.length + this.free.length + this.pendingCreates.length;
    if (this.destroyed || held >= this.maximum) return this.end(detached.resource);

    this.free.push(detached.resolve());
    this._tryAcquireOrCreate();
  }

  /** Ends a connection that is in use here instead of handing it out again. */
  async discard(connection: C): Promise<void> {
    if (this.detach(connection) !== undefined) await this.end(connection);
  }

  /** Ends a connection that is no longer in the pool. */
  async end(connection: C): Promise<void> {
    await this._destroy(connection);
  }

  // tarn's reaper would keep a finished program alive for as long as a connection is idle.
  override _startReaping(): void {
    super._startReaping();
    this.interval?.unref();
  }
}

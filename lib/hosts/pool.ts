import type { Clock } from '../clock.ts';
import { ConnectGate } from './connect-gate.ts';
import { preferLast } from './prefer-last.ts';
import type { PendingAcquire, PoolSettings, PoolSize, PoolStats } from './pool-settings.ts';
import { Renewals } from './renewals.ts';
import { TarnPool } from './tarn-pool.ts';

/** A connection outside of its pool; tarn's own record of it. */
export type DetachedConnection<C extends object> = HostPool<C>['used'][number];

/** The connections of one host: tarn, and what it lacks. */
export class HostPool<C extends object> extends TarnPool<C> {
  /** What lets its connections open. */
  readonly gate: ConnectGate;
  readonly #isUsable: ((connection: C) => boolean) | undefined;
  readonly #renewals: Renewals<C>;
  readonly #detached = new Set<C>();
  /** Waits that end where the server has no connection left. */
  readonly #untilRefusal = new WeakSet<object>();

  constructor({ isUsable, dialling, ...settings }: PoolSettings<C>, clock: Clock) {
    const gate = new ConnectGate(clock, dialling);
    const renewals = new Renewals<C>();
    const create = (): Promise<C> => gate.pass(() => renewals.open(settings.create));
    const validate = (connection: C): unknown =>
      !renewals.isOutdated(connection) && settings.validate(connection);
    // tarn awaits `validate`; its types say that it does not.
    super({ ...settings, validate, create } as unknown as ConstructorParameters<
      typeof TarnPool<C>
    >[0]);
    this.gate = gate;
    gate.onRest = () => this.turnAway((wait) => this.#untilRefusal.has(wait));
    this.#isUsable = isUsable;
    this.#renewals = renewals;
  }

  get minimum(): number {
    return this.min;
  }
  get maximum(): number {
    return this.max;
  }

  get stats(): PoolStats {
    const { used, free, pendingAcquires: waiting, max } = this;
    return { used: used.length, free: free.length, pending: waiting.length, max };
  }

  /** Whether all connections that there may be are in use. */
  get isFull(): boolean {
    return this.used.length >= this.max;
  }

  /** Whether an acquire would be served without waiting for another query to end. */
  hasRoom(): boolean {
    // Free and new connections alike are those not in use; who waits already comes first.
    const pending = this.pendingAcquires.length;
    if (this.maximum - this.used.length <= pending) return false;
    return this.free.length > pending || this.gate.isOpen;
  }

  /** Connections that are in use, in the pool or outside of it. */
  get inUse(): readonly C[] {
    return [...this.used.map(({ resource }) => resource), ...this.#detached];
  }

  /** Changes how many connections there may be, as when the host gets another role. */
  resize({ min, max }: PoolSize): void {
    this.min = min;
    this.max = max;
    this._tryAcquireOrCreate();
  }

  /** Uses none of the present connections again: idle ones end, the others once they are given back. */
  renew(): void {
    this.#renewals.renew(this.inUse);
    for (const idle of this.free.splice(0)) {
      idle.settle();
      void this.end(idle.resource);
    }
  }

  // A connection of the time before a renewal goes to nobody else.
  override release(connection: C): boolean {
    if (!this.#renewals.isOutdated(connection) || !this.isUsing(connection)) {
      return super.release(connection);
    }
    this._executeEventHandlers('release', connection);
    void this.discard(connection);
    return true;
  }

  /** Destroys the pool; what is in use after `millis` is taken from whoever uses it, by `sever`. */
  async destroyWithin(millis: number, clock: Clock, sever: (connection: C) => void): Promise<void> {
    this.gate.release();
    let taken: readonly Promise<void>[] = [];
    const stopWaiting = clock.after(millis, () => {
      this.gate.dialling.giveUp(() => new Error('The pool was destroyed.'));
      taken = this.inUse.map((connection) => this.takeAway(connection, sever));
    });
    await this.destroy();
    stopWaiting();
    await Promise.all(taken);
  }

  /** Takes a connection from whoever uses it, by `sever`. */
  async takeAway(connection: C, sever: (connection: C) => void): Promise<void> {
    sever(connection);
    await this.discard(connection);
  }

  /** Whether a connection is in use here. */
  isUsing(connection: C): boolean {
    return this.used.some((used) => used.resource === connection);
  }

  /** Resolves once a connection is in use here no more. */
  async whenReturned(connection: C): Promise<void> {
    await this.used.find((used) => used.resource === connection)?.promise;
  }

  /**
   * Takes an idle connection at once, without the promises and the timer of an acquire: the one with
   * the least `changes`, where those make a difference.
   *
   * @returns undefined where none is idle, where someone already waits, or where it has to be validated.
   */
  takeNow(changes?: (connection: C) => number): C | undefined {
    preferLast(this.free, changes);
    if (this.pendingAcquires.length > 0 || this.destroyed) return undefined;
    const idle = this.nextUsable();
    if (idle === undefined) return undefined;

    const { resource } = idle;
    const eventId = this.eventId++;
    this._executeEventHandlers('acquireRequest', eventId);
    this.occupy(idle);
    this._executeEventHandlers('acquireSuccess', eventId, resource);
    return resource;
  }

  /** Acquires within `millis` instead of the pool's own limit; see {@link HostPool.takeNow}. */
  acquireWithin(millis: number, changes?: (connection: C) => number): PendingAcquire<C> {
    preferLast(this.free, changes);
    // tarn reads the limit while `acquire` runs, and nowhere later.
    const limit = this.acquireTimeoutMillis;
    this.acquireTimeoutMillis = Math.max(1, millis);
    try {
      return this.acquire();
    } finally {
      this.acquireTimeoutMillis = limit;
    }
  }

  /** Waits for one that is in use, until `millis` have passed or the server has no connection left. */
  waitForOne(millis: number, changes?: (connection: C) => number): Promise<C> {
    const wait = this.acquireWithin(millis, changes);
    this.#untilRefusal.add(wait);
    return wait.promise;
  }

  /** Takes a connection in use out of the pool, which may open another; undefined where it isn't in use. */
  detach(connection: C): DetachedConnection<C> | undefined {
    const index = this.used.findIndex((used) => used.resource === connection);
    if (index === -1) return undefined;
    const [detached] = this.used.splice(index, 1);
    detached?.settle();
    this.#detached.add(connection);
    this._tryAcquireOrCreate();
    return detached;
  }

  /** Takes a detached connection back, or ends it where the pool has filled up meanwhile. */
  async attach(detached: DetachedConnection<C>): Promise<void> {
    this.#detached.delete(detached.resource);
    const held = this.used.length + this.free.length + this.pendingCreates.length;
    const isOutdated = this.#renewals.isOutdated(detached.resource);
    if (this.destroyed || isOutdated || held >= this.maximum) return this.end(detached.resource);
    this.free.push(detached.resolve());
    this._startReaping();
    this._tryAcquireOrCreate();
  }

  /** Ends a connection that is in use here instead of handing it out again. */
  async discard(connection: C): Promise<void> {
    if (this.detach(connection) !== undefined) await this.end(connection);
  }

  /** Ends a connection that is no longer in the pool. */
  async end(connection: C): Promise<void> {
    this.#detached.delete(connection);
    await this._destroy(connection);
  }

  protected override isUsableNow(connection: C): boolean {
    return !this.#renewals.isOutdated(connection) && this.#isUsable?.(connection) === true;
  }
}

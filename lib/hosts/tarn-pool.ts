import { Pool, TimeoutError } from 'tarn';
import { PoolWait } from './pool-wait.ts';

/** Whether an acquire failed because no connection became free in time: load, not a dead host. */
export const isPoolTimeout = (error: unknown): boolean => error instanceof TimeoutError;

/** tarn's pool without what it does that nobody wants. */
export class TarnPool<C> extends Pool<C> {
  // Its own operation takes a dozen promises and two timers, and a destroyed pool would have it wait.
  override acquire(): ReturnType<Pool<C>['acquire']> {
    const eventId = this.eventId++;
    this._executeEventHandlers('acquireRequest', eventId);
    const wait: PoolWait<C> = new PoolWait(this.acquireTimeoutMillis, {
      timeoutError: (message) => new TimeoutError(message),
      acquired: (connection) => this._executeEventHandlers('acquireSuccess', eventId, connection),
      failed: (error) => {
        this._executeEventHandlers('acquireFail', eventId, error);
        // Another list: who goes through this one ends waits.
        this.pendingAcquires = this.pendingAcquires.filter((other) => other !== pending);
      },
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that tarn uses of its own.
    const pending = wait as unknown as ReturnType<Pool<C>['acquire']>;
    this.pendingAcquires.push(pending);
    if (this.destroyed) pending.abort();
    else this._tryAcquireOrCreate();
    return pending;
  }

  // It would validate each with a timer and ten promises, where a look may be enough.
  override _doAcquire(): void {
    while (this._canAcquire()) {
      const idle = this.nextUsable();
      if (idle === undefined) return super._doAcquire();
      this.occupy(idle);
      this.pendingAcquires.shift()?.resolve(idle.resource);
    }
  }

  /** Ends waits for a connection, by default all, as when none will come. */
  turnAway(isMeant: (wait: object) => boolean = () => true): void {
    for (const pending of this.pendingAcquires) if (isMeant(pending)) pending.abort();
  }

  // It would keep a finished program alive for as long as a connection is idle.
  override _startReaping(): void {
    super._startReaping();
    this.interval?.unref();
  }

  // It would list the listeners three times for each query, and nearly nobody listens.
  override _executeEventHandlers(eventName: string, ...args: readonly unknown[]): void {
    if (this.emitter.listenerCount(eventName) === 0) return;
    super._executeEventHandlers(eventName, ...args);
  }

  /** The idle connection that comes next, where a look says that it can be used. */
  protected nextUsable(): Pool<C>['free'][number] | undefined {
    const idle = this.free.at(-1);
    return idle !== undefined && this.isUsableNow(idle.resource) ? idle : undefined;
  }

  /** Takes what {@link TarnPool.nextUsable} gave into use. */
  protected occupy(idle: Pool<C>['free'][number]): void {
    this.free.pop();
    this.used.push(idle);
    this._startReaping();
  }

  /** Whether an idle connection can be used without validating it. */
  protected isUsableNow(_connection: C): boolean {
    return false;
  }
}

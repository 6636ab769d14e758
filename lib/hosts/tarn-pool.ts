import { Pool, TimeoutError } from 'tarn';

/** Whether an acquire failed because no connection became free in time: load, not a dead host. */
export const isPoolTimeout = (error: unknown): boolean => error instanceof TimeoutError;

/** tarn's pool without what it does that nobody wants. */
export class TarnPool<C> extends Pool<C> {
  // It would let whoever asks a destroyed pool wait for the whole time.
  override acquire(): ReturnType<Pool<C>['acquire']> {
    const pending = super.acquire();
    if (this.destroyed) pending.abort();
    return pending;
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
}

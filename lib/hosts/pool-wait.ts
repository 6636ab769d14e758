import { systemClock } from '../clock.ts';

/** What is told how a {@link PoolWait} ends. */
export interface PoolWaitEnd<C> {
  /** Says what error ends a wait that took too long. */
  timeoutError(message: string): Error;
  acquired(connection: C): void;
  failed(error: Error): void;
}

/**
 * A wait for a connection, in place of tarn's own operation: with one promise and one timer, where
 * that takes a dozen. In a full pool every query waits.
 */
export class PoolWait<C> {
  /** The connection. */
  readonly promise: Promise<C>;
  /** Whether the wait was in vain. */
  isRejected = false;
  /** Why none could be opened meanwhile; for tarn to set. */
  possibleTimeoutCause: Error | null = null;
  readonly #end: PoolWaitEnd<C>;
  readonly #stopWaiting: () => void;
  #resolve: ((connection: C) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(millis: number, end: PoolWaitEnd<C>) {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#end = end;
    this.#stopWaiting = systemClock.holdFor(millis, () => {
      const cause = this.possibleTimeoutCause?.message;
      this.reject(end.timeoutError(cause ?? 'operation timed out for an unknown reason'));
    });
  }

  /** Ends the wait from outside. */
  abort(): void {
    this.reject(new Error('aborted'));
  }

  /** Gives the connection to whoever waits. */
  resolve(connection: C): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#settle();
    this.#end.acquired(connection);
    resolve(connection);
  }

  /** Ends the wait in vain. */
  reject(error: Error): void {
    const reject = this.#reject;
    if (reject === undefined) return;
    this.#settle();
    this.isRejected = true;
    this.#end.failed(error);
    reject(error);
  }

  // Nothing of the wait is kept by whoever keeps this.
  #settle(): void {
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#stopWaiting();
  }
}

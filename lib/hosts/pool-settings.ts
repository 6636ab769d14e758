import type { Dialling } from './dialling.ts';
import type { ServerSlot } from './server-slot.ts';

/** How a `HostPool` makes, checks and ends the connections of its host; tarn's own options. */
export interface PoolSettings<C> {
  /** Opens a connection, in its place of the server's budget where there is one. */
  readonly create: (slot?: ServerSlot) => Promise<C>;
  readonly validate: (connection: C) => Promise<boolean> | boolean;
  readonly destroy: (connection: C) => unknown;
  /**
   * Says at once that an idle connection can be used; absent where that takes more than a look,
   * so that every acquire has to validate.
   */
  readonly isUsable?: ((connection: C) => boolean) | undefined;
  /** What is being opened, where it can be given up. */
  readonly dialling?: Dialling | undefined;
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

/** How many connections a pool keeps, and may have. */
export interface PoolSize {
  readonly min: number;
  readonly max: number;
}

/** A started acquire, as tarn gives it to those who call `client.pool.acquire()`. */
export interface PendingAcquire<C> {
  readonly promise: Promise<C>;
  abort(): void;
}

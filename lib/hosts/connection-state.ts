import type { EventEmitter } from 'events';
import type { Clock } from '../clock.ts';
import type { Connection } from './host.ts';
import { serverFacts } from './server-facts.ts';

/**
 * What a connection is up to: `ready` for the next statement, `busy` with the last one, inside an
 * open or failed `transaction`, `given up` by Knex while it is busy, or `ended`.
 */
export type ConnectionState = 'ready' | 'busy' | 'transaction' | 'given up' | 'ended';

/** The members of a `pg` client that tell; a driver without them is taken at its word. */
interface Telling {
  readonly readyForQuery?: boolean | undefined;
  getTransactionStatus?(): string | null;
  /** Set by Knex, as when the time of a query is up and it isn't cancelled. */
  readonly __knex__disposed?: unknown;
}

/** Says what a connection is up to, as far as its driver tells. */
export function connectionState(connection: Connection): ConnectionState {
  if (serverFacts(connection)?.isEnded === true) return 'ended';

  const telling = connection as Telling;
  // pg reports an error as soon as it comes; only what follows tells whether a transaction is open.
  if (telling.readyForQuery === false) {
    // oxlint-disable-next-line no-underscore-dangle -- Knex's name.
    return telling.__knex__disposed === undefined ? 'busy' : 'given up';
  }
  return (telling.getTransactionStatus?.() ?? 'I') === 'I' ? 'ready' : 'transaction';
}

/** Waits until a busy connection is not busy any more; false when it still is after `millis`. */
export function settled(connection: Connection, clock: Clock, millis: number): Promise<boolean> {
  // Only pg's own client says that it is busy, and that is an emitter.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const emitter = connection as EventEmitter;
  return new Promise((resolve) => {
    const finish = (hasSettled: boolean): void => {
      stopWaiting();
      emitter.off('drain', onSettled).off('end', onSettled);
      resolve(hasSettled);
    };
    const onSettled = (): void => finish(true);
    const stopWaiting = clock.after(millis, () => finish(false));
    emitter.once('drain', onSettled).once('end', onSettled);
  });
}

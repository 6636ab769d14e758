import { SessionStateError } from '../errors.ts';
import type { Lease } from '../routing/lease.ts';
import type { PgClient } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { scopeWanted, wantedOf } from './wanted.ts';

/**
 * Refuses a statement of a transaction in surroundings that want another session state: it has the
 * one that it began in, wherever it is used.
 *
 * @throws {SessionStateError} when that is so.
 */
export function assertInState(
  { state }: RWSplit,
  lease: Lease | undefined,
  client: PgClient,
): void {
  if (lease === undefined || !state.states.isUsed || scopeWanted(state) === undefined) return;
  if (wantedOf(state, client)?.key === lease.state?.key) return;

  throw new SessionStateError(
    'The connection of a transaction, or one taken by hand, is used in an inState() that wants another session state than it has; begin the transaction in there. The statement was not sent.',
  );
}

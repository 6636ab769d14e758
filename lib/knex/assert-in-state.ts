import { SessionStateError } from '../errors.ts';
import type { Connection } from '../hosts/host.ts';
import { syncOf } from '../state/connection-sync.ts';
import type { PgClient } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { scopeWanted, wantedOf } from './wanted.ts';

/**
 * Refuses a statement on a connection that was chosen before, and is in use in another session state
 * than is wanted of the statement: a transaction keeps the one that it began in.
 *
 * @throws {SessionStateError} when that is so.
 */
export function assertInState({ state }: RWSplit, connection: Connection, client: PgClient): void {
  if (!state.states.isUsed) return;
  // What surrounded the beginning of a transaction may be left while it goes on.
  if (client.transacting === true && scopeWanted(state) === undefined) return;
  const sync = syncOf(connection);
  // A connection that is none of ours, or whose driver can't tell.
  if (sync === undefined || wantedOf(state, client)?.key === sync.wanted?.key) return;

  throw new SessionStateError(
    'The connection of a transaction, or one taken by hand, is in use in another session state than is wanted here; begin the transaction, or take the connection, in the state. The statement was not sent.',
  );
}

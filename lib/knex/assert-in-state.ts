import { SessionStateError } from '../errors.ts';
import type { Connection } from '../hosts/host.ts';
import { syncOf } from '../state/connection-sync.ts';
import type { PgClient } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { ownWanted, scopeWanted, wantedOf } from './wanted.ts';

/**
 * Refuses a statement on a connection that was chosen before, and is in use in another session state
 * than is wanted of the statement: a transaction keeps the one that it began in.
 *
 * @throws {SessionStateError} when that is so.
 */
export function assertInState({ state }: RWSplit, connection: Connection, client: PgClient): void {
  if (!state.states.isUsed) return;
  // What surrounded the beginning of a transaction may be left while it goes on.
  const isOpen = scopeWanted(state) === undefined;
  if (isOpen && (client.transacting === true || ownWanted(client) === undefined)) return;
  if (wantedOf(state, client)?.key === syncOf(connection)?.wanted?.key) return;

  throw new SessionStateError(
    'The connection of a transaction, or one taken by hand, is in use in another session state than is wanted here; begin the transaction, or take the connection, in the state. The statement was not sent.',
  );
}

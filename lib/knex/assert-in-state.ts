import { SessionStateError } from '../errors.ts';
import type { Connection } from '../hosts/host.ts';
import { syncOf } from '../state/connection-sync.ts';
import { nothingWanted } from '../state/wanted-state.ts';
import type { WantedState } from '../state/wanted-state.ts';
import type { Executable, PgClient } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { stateOfBuilder } from './state-of-builder.ts';
import { scopeWanted, wantedOf } from './wanted.ts';

/**
 * Refuses a statement on a connection that was chosen before, and is in use in another session state
 * than is wanted of the statement: a transaction keeps the one that it began in.
 *
 * @throws {SessionStateError} when that is so.
 */
export function assertInState(
  split: RWSplit,
  connection: Connection,
  client: PgClient,
  builder?: Executable,
): void {
  // Made by an instance with a state of its own, and sent in somebody else's transaction.
  const own = builder && stateOfBuilder(builder);
  if (own === undefined && !split.state.states.isUsed) return;
  const sync = syncOf(connection);
  // A connection that is none of ours, or whose driver can't tell.
  if (sync === undefined || isIn(sync.wanted, split, client, own)) return;

  throw new SessionStateError(
    'The connection of a transaction, or one taken by hand, is in use in another session state than is wanted here; begin the transaction, or take the connection, in the state. The statement was not sent.',
  );
}

function isIn(
  present: WantedState | undefined,
  { state }: RWSplit,
  client: PgClient,
  own: WantedState | undefined,
): boolean {
  const inOwn = own && (present ?? nothingWanted).with(own);
  if (inOwn !== undefined && inOwn.key !== present?.key) return false;
  // What surrounded the beginning of a transaction may be left while it goes on.
  if (client.transacting === true && scopeWanted(state) === undefined) return true;
  return !state.states.isUsed || wantedOf(state, client)?.key === present?.key;
}

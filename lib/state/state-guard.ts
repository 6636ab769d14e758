import { SessionStateError } from '../errors.ts';
import { syncOf } from './connection-sync.ts';
import type { PoolerSetting } from './session-refusal.ts';
import { sessionRefusal } from './session-refusal.ts';

/** Says why a connection can be in no session state; undefined where it can. */
export type StateGuard = (connection: object) => SessionStateError | undefined;

/**
 * Makes what says so of the connections of a host: those through a pooler that isn't said to keep
 * sessions, and all once one was seen to change its session, whatever is said.
 */
export function stateGuard(host: string, pooler: PoolerSetting): StateGuard {
  let isFoundOut = false;
  return (connection) => {
    isFoundOut ||= syncOf(connection)?.hasMoved === true;
    if (!isFoundOut) return sessionRefusal('state', connection, host, pooler);
    return new SessionStateError(
      `A session state is wanted, and on one connection to ${host} several sessions have answered: a pooler ` +
        'gives each transaction another one, whatever rwSplit.pooler says. The statement was not sent. ' +
        'Use SET LOCAL in knex.transaction(), or have the pooler keep sessions and restart.',
    );
  };
}

import { asTexts, runQuery } from '../hosts/run-query.ts';
import type { HoldsLocks } from '../routing/lock-keeper.ts';
import type { SessionStates } from '../state/session-states.ts';

// Virtual transaction locks and the like belong to the statement; these outlive it.
const HOLDS_LOCKS =
  "select exists (select from pg_catalog.pg_locks where locktype = 'advisory' and granted and pid = pg_catalog.pg_backend_pid()) as holds";

/**
 * Makes what asks a connection's server whether its session holds advisory locks: in no tenant's
 * state, whose time limits may be shorter than that takes.
 */
export function lockQuestion(states: SessionStates): HoldsLocks {
  return async (connection) => {
    states.want(connection);
    try {
      const [row] = await runQuery(connection, { text: HOLDS_LOCKS, types: asTexts }, false);
      return row?.['holds'] === 't';
    } finally {
      states.leave(connection);
    }
  };
}

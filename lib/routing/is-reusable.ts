import type { Clock } from '../clock.ts';
import { connectionState, settled } from '../hosts/connection-state.ts';
import type { Connection } from '../hosts/host.ts';
import { asTexts, runQuery } from '../hosts/run-query.ts';
import { syncOf } from '../state/connection-sync.ts';
import type { SessionStates } from '../state/session-states.ts';
import { wantedState } from '../state/wanted-state.ts';
import type { SessionChanges } from './session-changes.ts';

/** What {@link isReusable} judges by. */
export interface ReuseParts {
  readonly clock: Clock;
  readonly sessionChanges: SessionChanges;
  readonly states: SessionStates;
}

/** How long a connection that is given back may take to end its last statement. */
export const SETTLE_MILLIS = 1000;

// A server that doesn't say what is left in a session is not waited for longer.
const ANSWER_MILLIS = 2000;

const LIMIT = 'statement_timeout';
const unlimited = wantedState({
  searchPath: undefined,
  role: undefined,
  settings: { [LIMIT]: '0' },
});

// A session keeps its schema of temporary objects, which are found as the server itself finds them
// at its end. Statements that a driver prepared by name hold nothing of anybody.
const IS_CLEAN = `select not exists (select from pg_catalog.pg_depend
      where refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass
        and refobjid = pg_catalog.pg_my_temp_schema())
    and not exists (select from pg_catalog.pg_cursors where is_holdable)
    and not exists (select from pg_catalog.pg_prepared_statements where from_sql)
    and not exists (select from pg_catalog.pg_listening_channels())
    and not exists (select from pg_catalog.pg_locks
      where locktype = 'advisory' and granted and pid = pg_catalog.pg_backend_pid()) as "isClean"`;

/**
 * Says whether another query may have a connection as it is; a promise where its last statement has
 * yet to end, or its server has to be asked what is left in the session.
 */
export function isReusable(connection: Connection, parts: ReuseParts): boolean | Promise<boolean> {
  const { sessionChanges, states } = parts;
  if (sessionChanges.has(connection) || states.isLost(connection)) return false;

  const state = connectionState(connection);
  // What was sent before it was given back runs in the state that it was sent in.
  if (state === 'busy') return isReusableWhenSettled(connection, parts);
  if (state === 'ready' && states.mayHaveLeftovers(connection)) {
    return isReusableIfClean(connection, parts);
  }
  // One that has ended is left to its pool, which finds out.
  return state !== 'transaction' && state !== 'given up';
}

// An error comes before the server says how it left the session; a closed stream, or a statement
// that was given up, may still be running.
async function isReusableWhenSettled(connection: Connection, parts: ReuseParts): Promise<boolean> {
  const hasSettled = await settled(connection, parts.clock, SETTLE_MILLIS);
  return hasSettled && isReusable(connection, parts);
}

// What a procedure left in the session would be the next tenant's.
async function isReusableIfClean(connection: Connection, parts: ReuseParts): Promise<boolean> {
  parts.states.hasNoLeftovers(connection);
  const isClean = await isCleanSession(connection, parts);
  return isClean && isReusable(connection, parts);
}

function isCleanSession(connection: Connection, { clock, states }: ReuseParts): Promise<boolean> {
  // A tenant's own limit may be shorter than the answer takes.
  const wanted = syncOf(connection)?.wanted;
  const isLimited = wanted?.values.has(LIMIT) === true;
  if (isLimited) states.want(connection, wanted.with(unlimited));
  return new Promise((resolve) => {
    const stopWaiting = clock.after(ANSWER_MILLIS, () => resolve(false));
    runQuery(connection, { text: IS_CLEAN, types: asTexts }, !isLimited)
      .then(
        ([answer]) => resolve(answer?.['isClean'] === 't'),
        () => resolve(false),
      )
      .finally(stopWaiting);
  });
}

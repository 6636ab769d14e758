import { SessionStateError } from '../errors.ts';
import type { Connection } from '../hosts/host.ts';
import { serverFacts } from '../hosts/server-facts.ts';

/** What the configuration says of poolers; with `'session'` they keep one session for each connection. */
export type PoolerSetting = 'session' | undefined;

/** What can't be had through a pooler that shares sessions, and what there is instead. */
const needs = {
  state: ['A session state is wanted', 'SET LOCAL'],
  lock: ['A session-level advisory lock is wanted', 'pg_advisory_xact_lock'],
} as const;

/** Whether a pooler may give each transaction on a connection another session, which others had before. */
export function sharesSessions(connection: Connection, pooler: PoolerSetting): boolean {
  return pooler !== 'session' && serverFacts(connection)?.isPooled === true;
}

/**
 * Says why a statement that needs its connection's session to stay the same may not be sent on it;
 * undefined where it may.
 *
 * @param host the name of the connection's host.
 */
export function sessionRefusal(
  need: keyof typeof needs,
  connection: Connection,
  host: string,
  pooler: PoolerSetting,
): SessionStateError | undefined {
  if (!sharesSessions(connection, pooler)) return undefined;

  const [wanted, instead] = needs[need];
  return new SessionStateError(
    `${wanted}, and a pooler seems to stand before ${host}, which may give each transaction another session. ` +
      "The statement was not sent. If the pooler keeps one server connection for each of ours, say rwSplit: { pooler: 'session' }; " +
      `else use ${instead} in knex.transaction().`,
  );
}

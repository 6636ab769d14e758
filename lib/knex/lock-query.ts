import type { Connection } from '../hosts/host.ts';
import { runQuery } from '../hosts/run-query.ts';

// Virtual transaction locks and the like belong to the statement; these outlive it.
const HOLDS_LOCKS =
  "select exists (select from pg_catalog.pg_locks where locktype = 'advisory' and granted and pid = pg_catalog.pg_backend_pid()) as holds";

/** Asks a connection's server whether its session holds advisory locks. */
export async function holdsLocks(connection: Connection): Promise<boolean> {
  const [row] = await runQuery(connection, { text: HOLDS_LOCKS });
  return row?.['holds'] === true;
}

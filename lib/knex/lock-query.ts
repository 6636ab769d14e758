import type { Connection } from '../hosts/host.ts';

/** A `pg` client, as far as one question needs it. */
interface Questionable {
  query(text: string): Promise<{ readonly rows: readonly { readonly holds: boolean }[] }>;
}

// Virtual transaction locks and the like belong to the statement; these outlive it.
const HOLDS_LOCKS =
  "select exists (select from pg_locks where locktype = 'advisory' and granted and pid = pg_backend_pid()) as holds";

/** Asks a connection's server whether its session holds advisory locks. */
export async function holdsLocks(connection: Connection): Promise<boolean> {
  const { rows } = await (connection as Questionable).query(HOLDS_LOCKS);
  return rows[0]?.holds === true;
}

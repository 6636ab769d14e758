import { Client } from 'pg';
import type { HostConnection, Row } from './host-connection.ts';

const connectMillis = 5_000;
const queryMillis = 60_000;

/** Runs work on a connection of its own, and closes it. */
export async function withSession<T>(
  connection: HostConnection,
  work: (session: Client) => Promise<T>,
): Promise<T> {
  // `ssl` is given so that PGSSLMODE in the environment has no say.
  const session = new Client({
    ...connection,
    ssl: false,
    connectionTimeoutMillis: connectMillis,
    query_timeout: queryMillis,
  });
  // A lost connection also rejects the query that runs; without a listener it would end the process.
  session.on('error', () => undefined);
  try {
    await session.connect();
    return await work(session);
  } finally {
    await session.end();
  }
}

/** Runs one statement on a connection of its own. */
export async function runStatement<R extends Row>(
  connection: HostConnection,
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  return withSession(connection, async (session) => {
    const { rows } = await session.query<R>(text, [...values]);
    return rows;
  });
}

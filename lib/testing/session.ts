import { Client } from 'pg';

/** Where and as whom to connect; a `connection` for both Knex and pg. */
export interface HostConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** A row as pg returns it. */
export type Row = Record<string, unknown>;

/** Runs work on a connection of its own, and closes it. */
export async function withSession<T>(
  connection: HostConnection,
  work: (session: Client) => Promise<T>,
): Promise<T> {
  // `ssl` is given so that PGSSLMODE in the environment has no say.
  const session = new Client({ ...connection, ssl: false, connectionTimeoutMillis: 5_000 });
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

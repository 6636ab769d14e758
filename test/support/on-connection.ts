import type { Knex } from 'knex';

/** Runs something on a connection taken from Knex by hand, and gives it back. */
export async function onConnection(
  db: Knex,
  use: (connection: object) => unknown,
): Promise<unknown> {
  const connection = (await db.client.acquireConnection()) as object;
  try {
    return await use(connection);
  } finally {
    await db.client.releaseConnection(connection);
  }
}

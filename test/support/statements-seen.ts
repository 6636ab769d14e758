import type { TestHost } from '../../lib/testing/index.ts';

/**
 * What a server has run of the statements that Knex builds for the table `notes`, since it was
 * started or last {@link forgetStatements | forgot}. Needs the extension `pg_stat_statements`.
 */
export async function statementsSeen(host: TestHost): Promise<string[]> {
  const rows = await host.query<{ query: string }>(
    // Knex quotes the name, and the tests' own statements don't.
    `select query from pg_stat_statements where query like '%' || $1 || '%'`,
    ['"notes"'],
  );
  return rows.map(({ query }) => query);
}

/** Lets a server count anew for {@link statementsSeen}. */
export async function forgetStatements(host: TestHost): Promise<void> {
  await host.query('select pg_stat_statements_reset()');
}

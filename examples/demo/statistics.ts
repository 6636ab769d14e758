import type { TestHost } from 'knex-rwsplit/testing';

/** Has a server count from zero. */
export async function resetStatistics(host: TestHost): Promise<void> {
  await host.query('select pg_stat_statements_reset()');
}

/** How many statements a server counts by itself: a second witness, beside its log. */
export async function countedStatements(host: TestHost): Promise<number> {
  const [row] = await host.query<{ calls: number }>(`
    select coalesce(sum(calls), 0)::int as calls from pg_stat_statements
    where toplevel and dbid = (select oid from pg_database where datname = current_database())
      and query !~* '^(begin|commit|rollback)'
      -- What the demo itself asks:
      and query !~ 'pg_stat_statements|pg_read_binary_file|end_of_log'`);
  return row?.calls ?? 0;
}

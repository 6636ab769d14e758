import type { TestHost } from 'knex-rwsplit/testing';

/** Has a server count from zero. */
export async function resetStatistics(host: TestHost): Promise<void> {
  await host.query('select pg_stat_statements_reset()');
}

/** A server's own count: a second witness, beside its log. */
export interface Counted {
  readonly host: string;
  readonly statements: number;
}

/** Asks a server how many statements it has counted by itself. */
export async function countStatements(host: TestHost): Promise<Counted> {
  const [row] = await host.query<{ calls: number }>(`
    select coalesce(sum(calls), 0)::int as calls from pg_stat_statements
    where toplevel and dbid = (select oid from pg_database where datname = current_database())
      and query !~* '^(begin|commit|rollback)'
      -- What the demo itself asks, and the probes, which come by themselves:
      and query !~ 'pg_stat_statements|end_of_log|/\\* demo \\*/|pg_control_system'`);
  return { host: host.name, statements: row?.calls ?? 0 };
}

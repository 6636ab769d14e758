import type { Knex } from 'knex';
import type { TestHost } from '../../lib/testing/index.ts';
import { eventually } from './eventually.ts';
import { until } from '../../lib/testing/until.ts';

const stallMillis = 10_000;

/**
 * A read that answers at once who ran it, but on the named servers, where it takes longer than any
 * test. Needs what `createRoutingSchema()` makes.
 */
export function stalledRead(db: Knex, servers: readonly string[]): Knex.QueryBuilder {
  return db('here')
    .select('host')
    .whereRaw('case when host = any(?) then pg_sleep(600) is not null else true end', [
      [...servers],
    ]);
}

/** Waits until an instance knows that such a read is one: on a busy machine a first look may be late. */
export async function learnStalledRead(db: Knex): Promise<void> {
  await eventually(async () => {
    const [row]: { host: string }[] = await stalledRead(db, []);
    return row?.host.startsWith('replica') === true;
  });
}

/** Resolves when a server runs so many reads that stall. */
export async function untilStalled(host: TestHost, count = 1): Promise<void> {
  await until(`${count} reads stall on ${host.name}`, stallMillis, async () => {
    return (await stalledProcesses(host)).length >= count;
  });
}

/** The processes of a server that run reads that stall. */
export async function stalledProcesses(host: TestHost): Promise<number[]> {
  const rows = await host.query<{ pid: number }>(
    "select pid from pg_stat_activity where wait_event = 'PgSleep'",
  );
  return rows.map(({ pid }) => pid);
}

/** Ends the connections that stalled reads run on, as an administrator would. */
export async function endStalled(host: TestHost): Promise<void> {
  await host.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'",
  );
}

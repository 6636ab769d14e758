import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';

/** Watches how many connections servers see. */
export interface ConnectionWatch {
  /** Ends it; answers with the most that each host has seen at once. */
  end(): Promise<Record<string, number>>;
}

const everyMillis = 20;

// What its client has given up runs on until it is done, and is nobody's connection any more.
const text = `
  select count(*)::int as count from pg_stat_activity
  where usename = $1 and not (state = 'active' and query like '%pg_sleep%')`;

/** Asks the servers of a cluster again and again how many connections of a user they have. */
export function watchConnections(cluster: Cluster, user: string): ConnectionWatch {
  const most: Record<string, number> = {};
  const over = new AbortController();

  const watch = async (host: TestHost): Promise<void> => {
    while (!over.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const [row] = await host.query<{ count: number }>(text, [user]);
      most[host.name] = Math.max(most[host.name] ?? 0, row?.count ?? 0);
      // oxlint-disable-next-line no-await-in-loop
      await sleep(everyMillis);
    }
  };
  const watches = cluster.hosts.map(watch);

  return {
    async end() {
      over.abort();
      await Promise.all(watches);
      return most;
    },
  };
}

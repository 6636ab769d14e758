import { Client } from 'pg';
import type { Cluster } from '../../lib/testing/index.ts';

/** What a server saw of the sessions of one of its users. */
export interface SessionsSeen {
  /** The most at a time. */
  most: number;
  /** The most of them at a time whose last statement was a probe's. */
  probes: number;
  samples: number;
}

interface Session {
  readonly query: string;
}

/** Asks the primary for the sessions of a user, over and over, until the returned function is called. */
export async function watchSessions(
  cluster: Cluster,
  user: string,
): Promise<() => Promise<SessionsSeen>> {
  const client = new Client(cluster.connection());
  await client.connect();
  const seen: SessionsSeen = { most: 0, probes: 0, samples: 0 };
  let isOver = false;
  const sampling = (async () => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- it is, below.
    while (!isOver) {
      // oxlint-disable-next-line no-await-in-loop -- one sample after the other.
      const { rows } = await client.query<Session>(
        'select query from pg_stat_activity where usename = $1',
        [user],
      );
      const probes = rows.filter(({ query }) => query.includes('knex-rwsplit probe'));
      seen.samples++;
      seen.most = Math.max(seen.most, rows.length);
      seen.probes = Math.max(seen.probes, probes.length);
    }
  })();
  return async () => {
    isOver = true;
    await sampling;
    await client.end();
    return seen;
  };
}

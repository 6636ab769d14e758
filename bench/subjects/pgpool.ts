import { knex } from 'knex';
import { knexQueries } from './knex-queries.ts';
import { pgpoolProgram, startPgpool } from './pgpool-server.ts';
import { connectionsEach, idleMillis, type Subject } from './subject.ts';

/** Knex with pgpool-II in between. */
export const pgpool: Subject = {
  name: 'Knex and pgpool-II',
  hosts: 'all',
  missing: () =>
    pgpoolProgram === undefined ? "it is not installed: Debian's package is pgpool2" : undefined,
  open: async (cluster) => {
    const { port, stop } = await startPgpool(cluster);
    const db = knex({
      client: 'pg',
      connection: { ...cluster.connection(), port },
      // As many as there are to both replicas without it.
      pool: { min: 0, max: connectionsEach * 2, idleTimeoutMillis: idleMillis },
    });
    return {
      ...knexQueries(db),
      // It never answers the cursor that Knex streams by: rows that are asked for without a Sync.
      stream: undefined,
      close: async () => {
        await db.destroy();
        await stop();
      },
    };
  },
};

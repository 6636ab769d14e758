import { knex } from 'knex';
import { patchKnex } from 'knex-dynamic-connection';
import { knexQueries } from '../subjects/knex-queries.ts';
import { connectionsEach, idleMillis, type Subject } from '../subjects/subject.ts';

/** An instance for writes, and one whose connections go to the replicas in turn. */
export const subject: Subject = {
  name: 'knex-dynamic-connection',
  hosts: 'all',
  open: async (cluster) => {
    const write = knex({
      client: 'pg',
      connection: cluster.connection(),
      pool: { min: 0, max: connectionsEach, idleTimeoutMillis: idleMillis },
    });
    const replicas = cluster.replicas.map((replica) => cluster.connection(replica));
    const read = knex({
      client: 'pg',
      connection: cluster.connection(cluster.replicas[0]),
      pool: { min: 0, max: connectionsEach * replicas.length, idleTimeoutMillis: idleMillis },
    });
    let turn = 0;
    patchKnex(read, () => replicas[turn++ % replicas.length] ?? cluster.connection());
    return {
      ...knexQueries(write, read),
      close: async () => Promise.all([write.destroy(), read.destroy()]),
    };
  },
};

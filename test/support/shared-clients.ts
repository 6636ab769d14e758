import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, type RWSplitOptions } from '../../lib/index.ts';
import type { Cluster } from '../../lib/testing/index.ts';
import { replicasOf } from './split.ts';

/** Makes Knex instances that share pools, and counts their connections. */
export interface SharedClients {
  /** A Knex instance over the pools of the file, which hold five connections each. */
  make(rwSplit?: RWSplitOptions, config?: Knex.Config): Knex;
  /** The sessions that each server has of these instances, by its name. */
  sessions(): Promise<Record<string, number>>;
}

const quiet: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} };

/**
 * Gives the tests of a file Knex instances over one set of pools, by a user of their own; each is
 * destroyed with its test.
 */
export function useSharedClients(cluster: () => Cluster): SharedClients {
  const user = `shared_${randomBytes(4).toString('hex')}`;
  const made: Knex[] = [];

  beforeAll(async () => {
    const { primary } = cluster();
    await primary.query(`create role ${user} login password 'secret'`);
    await primary.query(`grant all on schema public to ${user}`);
    await cluster().waitForReplay();
  });

  afterEach(async () => {
    await Promise.all(made.splice(0).map((db) => db.destroy()));
  });

  return {
    make(rwSplit, config) {
      const db = knex({
        client: RWSplitClient,
        connection: { ...cluster().connection(), user, password: 'secret' },
        pool: { min: 0, max: 5 },
        log: quiet,
        ...config,
        rwSplit: {
          pools: user,
          replicas: replicasOf(cluster()),
          functions: { read: ['pg_sleep', 'current_setting'] },
          ...rwSplit,
        },
      });
      made.push(db);
      return db;
    },
    async sessions() {
      const counts = await Promise.all(
        cluster().hosts.map(async (host) => {
          const [row] = await host.query<{ count: number }>(
            'select count(*)::int from pg_stat_activity where usename = $1',
            [user],
          );
          return [host.name, row?.count ?? 0] as const;
        }),
      );
      return Object.fromEntries(counts);
    },
  };
}

/** The server that answers a query, by the name it calls itself. */
export async function serverOf(db: Knex): Promise<string> {
  const row = await db.first(db.raw("current_setting('cluster_name') as name"));
  return row.name;
}

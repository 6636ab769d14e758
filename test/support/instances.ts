import { afterEach, expect } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../lib/index.ts';
import { until } from '../../lib/testing/until.ts';
import type { Cluster } from '../../lib/testing/index.ts';

/** Makes the Knex instances of a test file. */
export interface Instances {
  /** One that splits, with a connection open to each host. */
  split(config?: Knex.Config): Promise<Knex>;
  /** One that splits, of the primary alone, with nothing opened. */
  alone(config?: Knex.Config): Knex;
  /** Knex's own, of the primary. */
  plain(config?: Knex.Config): Knex;
  /** What the instances of the running test have warned of. */
  warnings(): readonly string[];
}

/**
 * Makes Knex instances on a cluster. After each test they are destroyed, and before that every
 * connection has to be back in its pool.
 */
export function useInstances(cluster: () => Cluster): Instances {
  const open: Knex[] = [];
  let warnings: string[] = [];

  afterEach(async () => {
    const ended = open.splice(0);
    warnings = [];
    try {
      for (const db of ended) await untilIdle(db);
    } finally {
      await Promise.all(ended.map((db) => db.destroy()));
    }
  });

  const make = (config: Knex.Config): Knex => {
    const log = { warn: (message: string) => warnings.push(message), error: () => undefined };
    const db = knex({
      connection: cluster().connection(),
      pool: { min: 0, max: 4 },
      log,
      ...config,
    });
    open.push(db);
    return db;
  };

  return {
    warnings: () => warnings,
    plain: (config) => make({ client: 'pg', ...config }),
    alone: (config) => make({ client: RWSplitClient, rwSplit: { replicas: [] }, ...config }),
    async split(config = {}) {
      const replicas = cluster().replicas.map(({ name, host, port }) => ({ name, host, port }));
      const db = make({
        client: RWSplitClient,
        ...config,
        rwSplit: { replicas, ...config.rwSplit },
      });
      await rwSplit(db).checkNow();
      const hosts = rwSplit(db).hosts();
      await Promise.all(
        hosts.map(({ name: host }) => db.raw('select 1').queryContext({ rwSplit: { host } })),
      );
      return db;
    },
  };
}

/** Waits until no connection of an instance is in use, or waited for. */
export async function untilIdle(db: Knex): Promise<void> {
  // A destroyed instance has no pools.
  if (db.client.pool === undefined) return;
  await until('every connection is back in its pool', 2000, () => busyPools(db).length === 0).catch(
    () => expect(busyPools(db)).toEqual([]),
  );
}

function busyPools(db: Knex): readonly unknown[] {
  const { pool } = db.client;
  if (!('rwSplit' in db.client.config))
    return pool.numUsed() + pool.numPendingAcquires() > 0 ? [pool] : [];

  return rwSplit(db)
    .hosts()
    .map((host) => ({ name: host.name, inFlight: host.inFlight, ...host.pool }))
    .filter(({ inFlight, used, pending }) => inFlight + used + pending > 0);
}

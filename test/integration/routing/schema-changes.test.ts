import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useInstances } from '../../support/instances.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';

const define = (volatility: string): string =>
  `create or replace function named() returns text ${volatility} language sql
    as $$ select current_setting('cluster_name') $$`;

const changes: [string, (db: Knex, ddl: string) => Promise<unknown>][] = [
  ['raw', async (db, ddl) => db.raw(ddl)],
  ['schema.raw', async (db, ddl) => db.schema.raw(ddl)],
  ['a transaction', async (db, ddl) => db.transaction(async (trx) => trx.raw(ddl))],
  [
    'the schema builder of a transaction',
    async (db, ddl) => db.transaction(async (trx) => trx.schema.raw(ddl)),
  ],
  [
    'a nested transaction',
    async (db, ddl) =>
      db.transaction(async (trx) => trx.transaction(async (inner) => inner.raw(ddl))),
  ],
  [
    'a connection held by hand',
    async (db, ddl) => {
      const connection = (await db.client.acquireConnection()) as object;
      await db.raw(ddl).connection(connection);
      await db.client.releaseConnection(connection);
    },
  ],
  [
    'a connection of client.pool',
    async (db, ddl) => {
      const connection = (await db.client.pool.acquire().promise) as object;
      await db.raw(ddl).connection(connection);
      db.client.pool.release(connection);
    },
  ],
];

describe('A function that this client makes volatile while no replica replays', () => {
  const cluster = useOwnCluster({ replicas: 2 });
  const { split } = useInstances(cluster);

  const served = async (db: Knex): Promise<unknown> =>
    (await db.raw('select named() as host')).rows[0].host;

  beforeAll(async () => {
    await cluster().primary.query(define('stable'));
    await cluster().waitForReplay();
    await Promise.all(cluster().replicas.map((replica) => replica.pauseReplay()));
  });

  beforeEach(async () => {
    await cluster().primary.query(define('stable'));
  });

  it.each(changes)('is called on the primary from then on: by %s', async (_, change) => {
    const db = await split();
    expect(await served(db)).toMatch(/^replica-/);

    await change(db, define('volatile'));

    expect([await served(db), await served(db), await served(db)]).toEqual(
      Array(3).fill('primary'),
    );
    await expect(rwSplit(db).explain(db.raw('select named()'))).resolves.toMatchObject({
      intent: 'write',
    });
  });
});

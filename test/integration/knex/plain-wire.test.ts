import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { Pool as PgPool } from 'pg';
import { RWSplitClient } from '../../../lib/index.ts';
import type { HostConnection } from '../../../lib/testing/index.ts';
import { useRecordingProxy } from '../../support/recording-proxy.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => ['one'],
  getMigrationName: (name) => name,
  getMigration: async () => ({
    up: async (trx) => trx.schema.createTable('made', (table) => table.increments()),
    down: async (trx) => trx.schema.dropTable('made'),
  }),
};

const uses: [string, (db: Knex) => Promise<unknown>][] = [
  [
    'builders',
    async (db) => [
      await db('notes').insert({ body: 'a' }).returning('body'),
      await db('notes').select('body').where({ body: 'a' }),
      await db('notes').del(),
    ],
  ],
  ['raw text', async (db) => (await db.raw('select ?::int as one', [1])).rows],
  [
    'session state, locks and BEGIN in raw text',
    async (db) => [
      (await db.raw('set search_path to public')).command,
      (await db.raw('select pg_advisory_lock(1)')).command,
      (await db.raw('begin')).command,
      (await db.raw('commit')).command,
      (await db.raw('select pg_advisory_unlock(1)')).rows,
    ],
  ],
  [
    'a transaction',
    async (db) => db.transaction(async (trx) => trx('notes').count(), { readOnly: true }),
  ],
  ['a stream', async (db) => db('notes').select('id').stream().toArray()],
  [
    'a query that is cancelled',
    async (db) => [
      await db.raw('select pg_sleep(5)').timeout(100, { cancel: true }).catch(String),
      (await db.raw('select 1 as one')).rows,
    ],
  ],
  ['an error', async (db) => db('nowhere').catch(String)],
  [
    'migrations',
    async (db) =>
      [
        await db.migrate.latest({ migrationSource }),
        await db.migrate.rollback({ migrationSource }),
        await db.schema.dropTable('knex_migrations').dropTable('knex_migrations_lock'),
      ].slice(0, 2),
  ],
];

describe('RWSplitClient without rwSplit', () => {
  const cluster = useRoutingDatabase();
  const proxy = useRecordingProxy(() => cluster().primary);

  function connection(): HostConnection {
    return { ...cluster().connection(), port: proxy().port };
  }

  async function observe(
    config: Knex.Config,
    use: (db: Knex) => Promise<unknown>,
    endPool: () => Promise<void> = async () => undefined,
  ): Promise<unknown> {
    const db = knex({ pool: { min: 0, max: 1 }, ...config });
    const result = await use(db);
    await db.destroy();
    await endPool();
    return { result, sent: await proxy().recorded() };
  }

  it.each(uses)('sends for %s what pg sends', async (_, use) => {
    const ours = await observe({ client: RWSplitClient, connection: connection() }, use);

    expect(ours).toEqual(await observe({ client: 'pg', connection: connection() }, use));
    expect(ours).toMatchObject({
      sent: expect.arrayContaining([expect.arrayContaining(['p', 'X '])]),
    });
  });

  it.each(uses.slice(0, 4))('sends for %s on a pool of pg what pg sends', async (_, use) => {
    const observeOnPool = async (client: string | typeof Knex.Client): Promise<unknown> => {
      const pool = new PgPool({ ...connection(), max: 1 });
      // Knex types its own kind of pool, and takes this one as well.
      const connectionPool = pool as unknown as NonNullable<Knex.Config['connectionPool']>;
      return observe({ client, connectionPool }, use, () => pool.end());
    };

    const ours = await observeOnPool(RWSplitClient);

    expect(ours).toEqual(await observeOnPool('pg'));
  });

  it('sends after initialize() what pg sends', async () => {
    const use = async (db: Knex): Promise<unknown> => {
      await db.destroy();
      db.initialize();
      return db('notes').count();
    };

    const ours = await observe({ client: RWSplitClient, connection: connection() }, use);

    expect(ours).toEqual(await observe({ client: 'pg', connection: connection() }, use));
  });
});

import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient } from '../../../lib/index.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { untilIdle } from '../../support/instances.ts';

type Step = (db: Knex) => Promise<unknown>;

/** Migrations that are code, each in a transaction or not. */
function migrations(
  steps: Record<string, Step>,
  transaction = true,
): { migrationSource: Knex.MigrationSource<string> } {
  return {
    migrationSource: {
      getMigrations: async () => Object.keys(steps),
      getMigrationName: (name) => name,
      getMigration: async (name) => ({
        up: async (db) => steps[name]?.(db),
        down: async () => undefined,
        config: { transaction },
      }),
    },
  };
}

/** Seeds that are code. */
function seeds(seed: Step): object {
  return { seedSource: { getSeeds: async () => ['one'], getSeed: async () => ({ seed }) } };
}

const createNotes: Step = async (db) => {
  await db.schema.createTable('notes', (table) => table.increments().primary());
  await db('notes').insert({ id: 1 });
  expect(await db('notes').pluck('id')).toEqual([1]);
  expect(await db.schema.hasTable('notes')).toBe(true);
  await db('stale').insert({ id: 1 });
  expect(await db('stale').pluck('id')).toEqual([1]);
};

describe('While no replica replays', () => {
  const cluster = useOwnCluster({ replicas: 2 });
  const open: Knex[] = [];

  function split(): Knex {
    const db = knex({
      client: RWSplitClient,
      connection: cluster().connection(),
      pool: { min: 0, max: 3 },
      rwSplit: {
        replicas: cluster().replicas.map(({ name, host, port }) => ({ name, host, port })),
      },
    });
    open.push(db);
    return db;
  }

  const locks = async (): Promise<unknown> =>
    cluster().primary.query('select is_locked from knex_migrations_lock');

  // Without the tables, a replica would refuse what is asked of it; with them, it answers wrongly.
  beforeAll(async () => {
    const db = split();
    await db.migrate.latest(migrations({}));
    await db('knex_migrations_lock').del();
    await db.schema.createTable('stale', (table) => table.integer('id'));
    await cluster().waitForReplay();
    await Promise.all(cluster().replicas.map((replica) => replica.pauseReplay()));
  });

  afterEach(async () => {
    for (const db of open.splice(0)) {
      await untilIdle(db);
      await db.destroy();
    }
    await cluster().primary.query(
      'drop table if exists notes, more; truncate knex_migrations, knex_migrations_lock, stale restart identity',
    );
  });

  it('the replicas lack what the primary has', async () => {
    const db = split();
    await db.schema.createTable('notes', (table) => table.increments());
    const [replica] = cluster().replicas;

    await expect(replica?.query('select from notes')).rejects.toMatchObject({ code: '42P01' });
  });

  it.each([
    ['in a transaction', true],
    ['without one', false],
  ])('migrations that read what they write run %s, and once', async (_, transaction) => {
    const source = migrations({ '01_notes': createNotes }, transaction);
    const [one, two] = [split(), split()];

    expect(await one.migrate.latest(source)).toEqual([1, ['01_notes']]);
    expect(await one.migrate.latest(source)).toEqual([1, []]);
    expect(await two.migrate.latest(source)).toEqual([1, []]);
    expect(await two.migrate.list(source)).toEqual([[{ name: '01_notes' }], []]);
    expect(await two.migrate.currentVersion(source)).toBe('01');
    expect(await two.migrate.status(source)).toBe(0);
    expect(await locks()).toEqual([{ is_locked: 0 }]);
  });

  it('migrations go up and down one by one', async () => {
    const db = split();
    const more: Step = async (trx) => trx.schema.createTable('more', (table) => table.increments());
    const source = migrations({ '01_notes': createNotes, '02_more': more });

    expect(await db.migrate.up(source)).toEqual([1, ['01_notes']]);
    expect(await db.migrate.up(source)).toEqual([2, ['02_more']]);
    expect(await db.migrate.down(source)).toEqual([2, ['02_more']]);
    expect(await db.migrate.rollback(source)).toEqual([1, ['01_notes']]);
    expect(await locks()).toEqual([{ is_locked: 0 }]);
  });

  it('migrations run once where two processes begin them together', async () => {
    const db = split();
    await db.migrate.latest(migrations({}));
    const source = migrations({ '01_notes': createNotes });

    const ended = await Promise.allSettled(
      [split(), split()].map(async (one) => one.migrate.latest(source)),
    );

    expect(ended.map(({ status }) => status)).toContain('fulfilled');
    expect(await locks()).toEqual([{ is_locked: 0 }]);
    expect(await db.migrate.list(source)).toEqual([[{ name: '01_notes' }], []]);
  });

  it('migrations run by the migrator of a transaction belong to it', async () => {
    const db = split();
    const source = migrations({ '01_notes': createNotes });

    const trx = await db.transaction();
    expect(await trx.migrate.latest({ ...source, disableTransactions: false })).toEqual([
      1,
      ['01_notes'],
    ]);
    await trx.rollback();

    expect(await db.schema.hasTable('notes')).toBe(false);
  });

  it('seeds read what they write', async () => {
    const db = split();
    await db.migrate.latest(migrations({ '01_notes': createNotes }));
    const seen: unknown[] = [];
    const run: Step = async (seeded) => {
      await seeded('stale').insert({ id: 2 });
      seen.push(await seeded('stale').orderBy('id').pluck('id'));
      seen.push((await seeded.raw('select max(id) from stale')).rows);
    };

    await db.seed.run(seeds(run));

    expect(seen).toEqual([[1, 2], [{ max: 2 }]]);
  });

  it('a table is made where hasTable does not find it', async () => {
    const db = split();
    const ensure = async (): Promise<boolean> => {
      if (await db.schema.hasTable('notes')) return false;
      await db.schema.createTable('notes', (table) => table.increments());
      return true;
    };

    expect([await ensure(), await ensure()]).toEqual([true, false]);
    expect(await db.schema.hasColumn('notes', 'id')).toBe(true);
    expect(Object.keys(await db('notes').columnInfo())).toEqual(['id']);
  });

  it('the migrator of plain Knex runs as ever beside it', async () => {
    const plain = knex({ client: 'pg', connection: cluster().connection() });
    open.push(plain);

    expect(await plain.migrate.latest(migrations({ '01_notes': createNotes }))).toEqual([
      1,
      ['01_notes'],
    ]);
  });
});

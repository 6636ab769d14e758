import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { untilIdle, useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

/** Runs a text in a migration that has no transaction. */
async function migrate(db: Knex, text: string): Promise<unknown> {
  const migrationSource: Knex.MigrationSource<string> = {
    getMigrations: async () => [text],
    getMigrationName: (name) => name,
    getMigration: async () => ({
      up: async (knex) => knex.schema.raw(text),
      down: async () => undefined,
      config: { transaction: false },
    }),
  };
  return db.migrate.latest({ migrationSource });
}

const ways: [string, (db: Knex, text: string) => Promise<unknown>][] = [
  ['schema.raw', async (db, text) => db.schema.raw(text)],
  ['schema.raw beside others', async (db, text) => db.schema.raw('select 1').raw(text)],
  ['schema.raw in a migration without transaction', migrate],
];

describe.each(ways)('Raw text in %s', (_, run) => {
  const cluster = useRoutingDatabase();
  const { split, warnings } = useInstances(cluster);

  const pid = async (db: Knex): Promise<unknown> =>
    (await db.raw('select pg_backend_pid() as pid')).rows[0].pid;

  /** An instance with few connections to the primary, whose database has no migrations. */
  async function narrow(max = 1): Promise<Knex> {
    await cluster().primary.query('drop table if exists knex_migrations, knex_migrations_lock');
    return split({ pool: { min: 0, max } });
  }

  it.each([
    ["set application_name = 'changed'"],
    ['create temp table short (id int)'],
    ["select set_config('application_name', 'changed', false)"],
  ])('has its connection replaced, and is warned about: %s', async (text) => {
    const db = await narrow();
    const before = await pid(db);

    await run(db, text);
    await untilIdle(db);

    expect(await pid(db)).not.toBe(before);
    const { rows } = await db.raw(
      "select current_setting('application_name') as name, to_regclass('short') as short, txid_current()",
    );
    expect(rows).toMatchObject([{ name: '', short: null }]);
    expect(warnings().filter((warning) => warning.includes('changed the state'))).toHaveLength(1);
  });

  it('keeps the connection that it locks on, until it is given back', async () => {
    const [one, two] = [await narrow(2), await split()];
    const tryLock = 'select pg_try_advisory_lock(7) as is_mine';

    await run(one, 'select pg_advisory_lock(7)');

    expect((await two.raw(tryLock)).rows).toEqual([{ is_mine: false }]);
    expect((await one.raw(tryLock)).rows).toEqual([{ is_mine: false }]);
    expect((await one.raw('select pg_advisory_unlock(7) as is_free')).rows).toEqual([
      { is_free: true },
    ]);
    expect((await two.raw(tryLock)).rows).toEqual([{ is_mine: true }]);
    await two.raw('select pg_advisory_unlock(7)');
  });

  it('opens no transaction', async () => {
    const db = await narrow();

    await expect(run(db, 'begin')).rejects.toMatchObject({
      name: 'SessionStateError',
      message: expect.stringContaining('knex.transaction()'),
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

async function answer(db: Knex, text: string): Promise<unknown> {
  const { rows } = await db.raw(`select ${text} as answer`);
  return rows[0].answer;
}

const tryLock = async (db: Knex, key = 7): Promise<unknown> =>
  answer(db, `pg_try_advisory_lock(${key})`);
const unlock = async (db: Knex, key = 7): Promise<unknown> =>
  answer(db, `pg_advisory_unlock(${key})`);

function primaryPool(db: Knex): { used: number; free: number } {
  const { used = -1, free = -1 } = rwSplit(db).hosts()[0]?.pool ?? {};
  return { used, free };
}

describe('A session-level advisory lock', () => {
  const cluster = useRoutingDatabase();
  const { split, warnings } = useInstances(cluster);

  /** The keys that are locked in the test's database. */
  async function locked(): Promise<number[]> {
    const rows = await cluster().primary.query<{ key: number }>(
      `select objid::int as key from pg_locks join pg_database d on d.oid = database
        where locktype = 'advisory' and datname = current_database() order by 1`,
    );
    return rows.map(({ key }) => key);
  }

  it('keeps a second client out until it is given back', async () => {
    const [one, two] = [await split(), await split()];

    expect(await tryLock(one)).toBe(true);
    expect(await tryLock(two)).toBe(false);
    expect(await unlock(two)).toBe(false);
    expect(await unlock(one)).toBe(true);
    expect(await tryLock(two)).toBe(true);
    expect(await unlock(two)).toBe(true);
  });

  it('keeps its own client out, too', async () => {
    const db = await split();

    expect([await tryLock(db), await tryLock(db)]).toEqual([true, false]);
    expect(await unlock(db)).toBe(true);
    expect(await unlock(db)).toBe(false);
  });

  it('takes its connection out of the pool, and giving it back brings it in again', async () => {
    const db = await split();
    expect(primaryPool(db)).toEqual({ used: 0, free: 1 });

    await tryLock(db);
    expect(primaryPool(db)).toEqual({ used: 0, free: 0 });

    await unlock(db);
    expect(primaryPool(db)).toEqual({ used: 0, free: 1 });
    expect(await locked()).toEqual([]);
  });

  it('that was not granted keeps nothing', async () => {
    const [one, two] = [await split(), await split()];
    await tryLock(one);

    await tryLock(two);

    expect(primaryPool(two)).toEqual({ used: 0, free: 1 });
  });

  it('is found again among several, and pg_advisory_unlock_all gives back all', async () => {
    const db = await split();
    for (const key of [1, 2, 3]) await tryLock(db, key);

    expect(await unlock(db, 2)).toBe(true);
    expect(await locked()).toEqual([1, 3]);
    await db.raw('select pg_advisory_unlock_all()');

    expect(await locked()).toEqual([]);
    expect(primaryPool(db)).toEqual({ used: 0, free: 3 });
  });

  it('can be taken as often as the pool has connections, and no more', async () => {
    const db = await split({ pool: { min: 0, max: 2 } });
    await tryLock(db, 1);
    await tryLock(db, 2);

    await expect(tryLock(db, 3)).rejects.toMatchObject({
      name: 'SessionStateError',
      message: expect.stringContaining('2 connections are kept out of the pool'),
    });
    expect(await answer(db, '1')).toBe(1);
    await unlock(db, 1);
    expect(await tryLock(db, 3)).toBe(true);
    await db.raw('select pg_advisory_unlock_all()');
  });

  it('is warned about once', async () => {
    const db = await split();

    for (const key of [1, 2]) await tryLock(db, key);

    const about = warnings().filter((text) => text.includes('advisory lock was taken outside'));
    expect(about).toHaveLength(1);
  });

  it('ends with its session, after which others can be taken', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });
    await tryLock(db);
    await cluster().primary.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())`,
    );
    await until('the lock is gone', 5000, async () => (await locked()).length === 0);

    expect(await tryLock(db)).toBe(true);
    expect(await unlock(db)).toBe(true);
    expect(await answer(db, '1')).toBe(1);
  });

  it('ends with destroy()', async () => {
    const db = await split();
    await tryLock(db);

    await db.destroy();

    await until('the lock is gone', 5000, async () => (await locked()).length === 0);
  });

  it('of a transaction that did not give it back keeps its connection', async () => {
    const [one, two] = [await split(), await split()];

    await one.transaction(async (trx) => tryLock(trx));

    expect(await tryLock(two)).toBe(false);
    expect(primaryPool(one)).toEqual({ used: 0, free: 0 });
    expect(await unlock(one)).toBe(true);
    expect(await tryLock(two)).toBe(true);
    await unlock(two);
  });

  it('of a transaction that gave it back keeps nothing', async () => {
    const db = await split();

    await db.transaction(async (trx) => {
      await tryLock(trx);
      await unlock(trx);
    });

    expect(primaryPool(db)).toEqual({ used: 0, free: 1 });
  });

  it('of a transaction is taken and given back by it alone', async () => {
    const db = await split();
    const texts = ['select pg_advisory_xact_lock(7)', 'select pg_try_advisory_xact_lock(8)'];

    await db.transaction(async (trx) => {
      for (const text of texts) await trx.raw(text);
      expect(await locked()).toEqual([7, 8]);
    });

    expect(await locked()).toEqual([]);
    expect(primaryPool(db)).toEqual({ used: 0, free: 1 });
    expect(warnings()).toEqual([]);
  });

  it('taken inside of a builder counts as well', async () => {
    const db = await split();

    await db('here').select(db.raw('pg_advisory_lock(7)'));

    expect(await locked()).toEqual([7]);
    expect(primaryPool(db)).toEqual({ used: 0, free: 0 });
    expect(await unlock(db)).toBe(true);
  });

  it('taken on a connection held by hand is given back right after that was', async () => {
    const db = await split();

    for (const key of [7, 8, 9]) {
      const connection = (await db.client.acquireConnection()) as object;
      await db.raw('select pg_advisory_lock(?)', [key]).connection(connection);
      void db.client.releaseConnection(connection);
      expect(await unlock(db, key)).toBe(true);
    }

    expect(await locked()).toEqual([]);
  });

  it('taken by a stream is kept once that is read to its end', async () => {
    const db = await split();

    for (const key of [7, 8]) {
      const rows: unknown[] = [];
      const text = `select pg_try_advisory_lock(${key}) as got`;
      for await (const row of db.raw(text).stream()) rows.push(row);
      expect(rows).toEqual([{ got: true }]);
    }

    expect(await locked()).toEqual([7, 8]);
    expect(await unlock(db)).toBe(true);
    expect(await unlock(db, 8)).toBe(true);
  });

  it('taken on a connection held by hand stays with it', async () => {
    const [one, two] = [await split(), await split()];
    const connection = (await one.client.acquireConnection()) as object;

    await one.raw('select pg_advisory_lock(7)').connection(connection);
    await one.client.releaseConnection(connection);

    await until('the connection is kept', 2000, () => primaryPool(one).used === 0);
    expect(primaryPool(one)).toEqual({ used: 0, free: 0 });
    expect(await tryLock(two)).toBe(false);
    expect(await unlock(one)).toBe(true);
  });
});

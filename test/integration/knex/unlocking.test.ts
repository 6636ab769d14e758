import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { RouteEvent } from '../../../lib/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const nobodysKey = 9;

const writing: [string, (db: Knex) => PromiseLike<unknown>][] = [
  [
    'an insert',
    (db) => db.raw(`insert into notes (rank) values (10 + pg_advisory_unlock(${nobodysKey})::int)`),
  ],
  [
    'an insert of a builder',
    (db) => db('notes').insert({ rank: db.raw('10 + pg_advisory_unlock(?)::int', [nobodysKey]) }),
  ],
  [
    'an update',
    (db) => db.raw(`update notes set rank = rank + 9 returning pg_advisory_unlock(${nobodysKey})`),
  ],
  [
    'a delete',
    (db) =>
      db.raw(
        `delete from notes where rank = (select max(rank) from notes) returning pg_advisory_unlock(${nobodysKey})`,
      ),
  ],
];

const bare: [string, number | string, (db: Knex) => PromiseLike<unknown>][] = [
  ['a number', 2, (db) => db.raw('select pg_advisory_unlock(2)')],
  ['a name for the answer', 2, (db) => db.raw('select pg_advisory_unlock(2) as "is_free";')],
  ['a binding', 2, (db) => db.raw('select pg_advisory_unlock(?) as is_free', [2])],
  ['a hash', 'job', (db) => db.raw("select pg_advisory_unlock(hashtext('job'))")],
  [
    'the hash of a binding',
    'job',
    (db) => db.raw('select pg_advisory_unlock(hashtext(?))', ['job']),
  ],
  ['a builder', 2, (db) => db.select(db.raw('pg_advisory_unlock(2)'))],
];

describe('Giving back advisory locks', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  const lock = async (db: Knex, key: number | string): Promise<unknown> =>
    typeof key === 'number'
      ? db.raw('select pg_advisory_lock(?)', [key])
      : db.raw('select pg_advisory_lock(hashtext(?))', [key]);

  /** The low halves of the keys that are locked, or waited for, in the test's database. */
  async function locked(): Promise<number[]> {
    const rows = await cluster().primary.query<{ key: number }>(
      `select objid::int as key from pg_locks join pg_database d on d.oid = database
        where locktype = 'advisory' and datname = current_database() order by 1`,
    );
    return rows.map(({ key }) => key);
  }

  async function holdingThree(second: number | string = 2): Promise<Knex> {
    const db = await split();
    for (const key of [1, second, 3]) await lock(db, key);
    return db;
  }

  async function ranks(): Promise<number[]> {
    const rows = await cluster().primary.query<{ rank: number }>(
      'select rank from notes order by 1',
    );
    return rows.map(({ rank }) => rank);
  }

  it.each(writing)('writes once where %s does it', async (name, run) => {
    await cluster().primary.query('truncate notes; insert into notes (rank) values (1), (2), (3)');
    const db = await holdingThree();

    await run(db);

    const expected = name.startsWith('an insert') ? [1, 2, 3, 10] : undefined;
    const changed = name === 'an update' ? [10, 11, 12] : [1, 2];
    expect(await ranks()).toEqual(expected ?? changed);
    expect(await locked()).toEqual([1, 2, 3]);
  });

  it.each(bare)(
    'finds the session that holds the lock among several, by %s',
    async (_, key, run) => {
      const db = await holdingThree(key);

      await run(db);

      expect(await locked()).toEqual([1, 3]);
    },
  );

  it.each([1, 2, 3])('is kept from no key by the end of the session with key %s', async (ended) => {
    const db = await holdingThree();
    await cluster().primary.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = ${ended}
        and database = (select oid from pg_database where datname = current_database())`,
    );

    for (const key of [1, 2, 3].filter((other) => other !== ended)) {
      const { rows } = await db.raw('select pg_advisory_unlock(?) as is_free', [key]);
      expect(rows).toEqual([{ is_free: true }]);
    }

    await until('no lock is left', 5000, async () => (await locked()).length === 0);
  });

  it('is told as a route', async () => {
    const db = await holdingThree();
    const routes: RouteEvent[] = [];
    rwSplit(db).on('route', (event) => routes.push(event));

    await db.raw('select pg_advisory_unlock(1)');

    const [primary] = rwSplit(db).hosts();
    expect(routes).toEqual([
      expect.objectContaining({ host: primary?.name, reason: 'unlocks where it was locked' }),
    ]);
  });

  it('leaves a session that was changed beside its lock to nobody', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });
    await db.raw("select pg_advisory_lock(7), set_config('application_name', 'changed', false)");

    await db.raw('select pg_advisory_unlock(7)');

    const { rows } = await db.raw(
      "select current_setting('application_name') as name, txid_current()",
    );
    expect(rows).toMatchObject([{ name: '' }]);
    expect(await locked()).toEqual([]);
  });
});

describe('Taking advisory locks', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  async function locked(): Promise<number> {
    const rows = await cluster().primary.query(
      `select from pg_locks join pg_database d on d.oid = database
        where locktype = 'advisory' and datname = current_database()`,
    );
    return rows.length;
  }

  it('at the same time keeps no more connections than the pool has', async () => {
    const db = await split({ pool: { min: 0, max: 2 } });

    const taken = await Promise.allSettled(
      [1, 2, 3, 4, 5, 6].map(async (key) => db.raw('select pg_try_advisory_lock(?)', [key])),
    );

    const refused = taken.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(4);
    for (const one of refused) expect(one).toMatchObject({ reason: { name: 'SessionStateError' } });
    expect(await locked()).toBe(2);
    await db.raw('select pg_advisory_unlock_all()');
    expect(await locked()).toBe(0);
  });

  it.each([
    ['and is cancelled', { cancel: true }],
    ['and runs on', undefined],
  ])(
    'that takes too long fails before the lock is free %s, and leaves none',
    async (_, options) => {
      const [holder, waiting] = [await split(), await split()];
      await holder.raw('select pg_advisory_lock(7)');
      let failure: unknown;

      const query = waiting.raw('select pg_advisory_lock(7)');
      (options === undefined ? query.timeout(500) : query.timeout(500, { cancel: true })).then(
        () => (failure = 'none'),
        (error: unknown) => (failure = error),
      );
      await until('it has failed', 5000, () => failure !== undefined);

      expect(failure).toMatchObject({ name: 'KnexTimeoutError' });
      expect((await holder.raw('select pg_advisory_unlock(7) as is_free')).rows).toEqual([
        { is_free: true },
      ]);
      await until('no lock is left', 5000, async () => (await locked()) === 0);
      expect((await waiting.raw('select pg_try_advisory_lock(7) as is_mine')).rows).toEqual([
        { is_mine: true },
      ]);
      await waiting.raw('select pg_advisory_unlock(7)');
    },
  );
});

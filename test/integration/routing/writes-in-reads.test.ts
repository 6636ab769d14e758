import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

const insert = (db: Knex): Knex.QueryBuilder => db('notes').insert({ rank: 5 }).returning('*');

const changing: [string, (db: Knex) => PromiseLike<unknown>][] = [
  ['with', (db) => db.with('x', insert(db)).select().from('x')],
  [
    'with, given as raw',
    (db) => db.with('x', db.raw('delete from notes where false returning *')).select().from('x'),
  ],
  ['with, materialized', (db) => db.withMaterialized('x', insert(db)).select().from('x')],
  ['with, recursive', (db) => db.withRecursive('x', insert(db)).select().from('x')],
  [
    'with, behind a reading one',
    (db) =>
      db
        .with('r', db.select(db.raw('1')))
        .with('x', insert(db))
        .from('r')
        .select(),
  ],
  ['with, unreferenced', (db) => db.with('x', insert(db)).select(db.raw('1 as one'))],
  ['with, streamed', (db) => db.with('x', insert(db)).select().from('x').stream().toArray()],
  ['first', (db) => db.with('x', insert(db)).from('x').first()],
  ['count', (db) => db.with('x', insert(db)).from('x').count()],
  ['a raw column', (db) => db('notes').select(db.raw("nextval('numbers')")).limit(1)],
  ['a raw table', (db) => db.from(db.raw("nextval('numbers') as n")).select()],
  ['a raw condition', (db) => db('notes').whereRaw("pg_notify('channel', '') is null").select()],
  ['a raw order', (db) => db('notes').orderByRaw("nextval('numbers')").select()],
  ['a raw join', (db) => db('notes').joinRaw("cross join nextval('numbers') as n").select()],
  ['a sub-query', (db) => db.select(db.select(db.raw("nextval('numbers')")).as('n'))],
];

const locking: [string, (db: Knex) => PromiseLike<unknown>][] = [
  ['forUpdate', (db) => db('notes').forUpdate().first()],
  ['forUpdate of no rows', (db) => db('notes').whereRaw('false').forUpdate().first()],
  ['forShare', (db) => db('notes').forShare().select()],
  ['forNoKeyUpdate, skipLocked', (db) => db('notes').forNoKeyUpdate().skipLocked().select()],
  ['forKeyShare, noWait', (db) => db('notes').forKeyShare().noWait().select()],
  ['forUpdate of a table', (db) => db('notes as n').forUpdate('n').select()],
  ['forUpdate, streamed', (db) => db('notes').forUpdate().select().stream().toArray()],
  [
    'a lock in a sub-query',
    (db) => db('notes').whereIn('id', db('notes').select('id').limit(1).forUpdate()),
  ],
  ['a lock in a table of a select', (db) => db.from(db('notes').forUpdate().as('n')).select()],
  ['a lock in a with', (db) => db.with('n', db('notes').forUpdate()).from('n').select()],
  [
    'a lock in an update',
    (db) =>
      db('notes')
        .whereIn('id', db('notes').select('id').limit(1).forUpdate().skipLocked())
        .update({ rank: 6 }),
  ],
  ['a lock in raw text', (db) => db.raw('select * from notes for update')],
];

describe('A select that changes or locks rows', () => {
  const split = useSplit(useRoutingDatabase('create sequence numbers;'), 'eventual');

  it.each([...changing, ...locking])('runs on the primary: %s', async (_, run) => {
    const { db, servers } = split.cold();

    await run(db);

    expect(servers()).toEqual(['primary']);
  });

  it('gives the rows that it wrote', async () => {
    const { db } = split.cold();

    const rows = await db.with('x', insert(db)).select('rank').from('x');

    expect(rows).toEqual([{ rank: 5 }]);
  });

  it('is a read again once the lock is taken away', async () => {
    const { db, servers } = await split.warm();
    const locked = db('notes').forUpdate();

    await locked.clone();
    await db('notes').select();

    const [first, second] = servers();
    expect(first).toBe('primary');
    expect(second).toMatch(/^replica/);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { Model } from 'objection';
import {
  ConfigError,
  onPrimary,
  onReplica,
  ReadOnlyHostError,
  rwSplit,
} from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

class Note extends Model {
  static override tableName = 'notes';
}

const toPrimary: [string, (db: Knex) => PromiseLike<unknown>][] = [
  ['modify(onPrimary)', (db) => db('notes').modify(onPrimary).select()],
  ['modify(onPrimary) at the end', (db) => db('notes').select().modify(onPrimary)],
  ['onPrimary(builder)', (db) => onPrimary(db('notes').select())],
  ['onPrimary(raw)', (db) => onPrimary(db.raw('select 1'))],
  ['onPrimary(schema builder)', (db) => onPrimary(db.schema.hasTable('notes'))],
  ['a stream', (db) => onPrimary(db('notes').select()).stream().toArray()],
  ['a clone', (db) => onPrimary(db('notes')).clone().select()],
  ['a clone of a clone', (db) => onPrimary(db('notes')).clone().clone().first()],
  ['a later queryContext', (db) => onPrimary(db('notes')).queryContext({ user: 1 }).select()],
  ['a clone with a queryContext', (db) => onPrimary(db('notes')).queryContext({ user: 1 }).clone()],
  ['an earlier queryContext', (db) => db('notes').queryContext({ user: 1 }).modify(onPrimary)],
  [
    'queryContext',
    (db) =>
      db('notes')
        .queryContext({ rwSplit: { target: 'primary' } })
        .select(),
  ],
  [
    'queryContext of a raw',
    (db) => db.raw('select 1').queryContext({ rwSplit: { target: 'primary' } }),
  ],
  ['a leading comment', (db) => db.raw('/* rwsplit: primary */ select 1')],
  ['a leading line comment', (db) => db.raw('-- rwsplit: primary\nselect 1')],
  ['a leading comment in capitals', (db) => db.raw('/* RWSPLIT: PRIMARY */ select 1')],
  ['a query of Objection, by modify', (db) => Note.query(db).modify(onPrimary).where({ id: 1 })],
  ['a query of Objection', (db) => onPrimary(Note.query(db))],
  ['a clone of one of Objection', (db) => onPrimary(Note.query(db)).clone().first()],
  ['the builder behind one of Objection', (db) => onPrimary(Note.query(db)).toKnexQuery()],
  ['the last of two hints', (db) => onPrimary(onReplica(db('notes').select()))],
  ['a hint beside a comment', (db) => onPrimary(db.raw('/* rwsplit: replica */ select 1'))],
];

const toReplica: [string, (db: Knex) => PromiseLike<unknown>][] = [
  ['modify(onReplica)', (db) => db('notes').modify(onReplica).select()],
  ['onReplica(builder)', (db) => onReplica(db('notes').select())],
  ['onReplica(raw)', (db) => onReplica(db.raw('select 1'))],
  ['a query of Objection', (db) => Note.query(db).modify(onReplica)],
  ['a raw that is not proved a read', (db) => onReplica(db.raw('show transaction_read_only'))],
  ['a clone', (db) => onReplica(db('notes')).clone().select()],
  [
    'queryContext',
    (db) =>
      db('notes')
        .queryContext({ rwSplit: { target: 'replica' } })
        .select(),
  ],
  ['a leading comment', (db) => db.raw('/* rwsplit: replica */ show transaction_read_only')],
  ['a comment that is not at the start', (db) => db.raw('select 1 /* rwsplit: primary */')],
];

describe('A hint', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it.each(toPrimary)('sends a read to the primary: %s', async (_, run) => {
    const { db, servers } = split.cold();

    await run(db);

    expect(servers()).toEqual(['primary']);
  });

  it.each(toReplica)('sends a statement to a replica: %s', async (_, run) => {
    const { db, servers } = await split.warm();

    await run(db);

    expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
  });

  it.each<[string, (db: Knex) => object]>([
    ['a promise', async () => []],
    ['a Knex instance', (db) => db],
    ['an object with toSQL alone', () => ({ toSQL: () => ({}) })],
    ['an entity manager', () => ({ createQueryBuilder: () => ({}) })],
  ])('is refused on what is no builder: %s', (_, make) => {
    const { db } = split.cold();

    expect(() => onPrimary(make(db))).toThrow(ConfigError);
    expect(() => onReplica(make(db))).toThrow(/in the scope rwSplit\(db\)\.onReplica\(/);
  });

  it('keeps a write of Objection from a replica', async () => {
    const { db, servers } = split.cold();

    await expect(onReplica(Note.query(db).delete())).rejects.toThrow(ReadOnlyHostError);
    expect(servers()).toEqual([]);
  });

  it('is for its own builder alone', async () => {
    const { db, servers } = await split.warm();
    const builder = db('notes').select();

    await onPrimary(builder.clone());
    await builder;

    expect(servers()).toEqual(['primary', expect.stringMatching(/^replica/)]);
  });

  it('leaves the query context as it was', async () => {
    const { db } = await split.warm();
    const context = { user: 1 };

    const query = db('notes').queryContext(context).modify(onPrimary);
    await query;

    expect(query.queryContext()).toBe(context);
    expect(context).toEqual({ user: 1 });
  });

  it('overrules the target of the client', async () => {
    const { db, servers } = await split.warm({ rwSplit: { target: 'primary' } });

    await onReplica(db('notes').select());

    expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
  });

  it('does not take a statement out of its transaction', async () => {
    const { db, servers } = await split.warm();

    await db.transaction(async (trx) => {
      await onReplica(trx('notes').select());
      await trx.raw('/* rwsplit: replica */ select 1');
    });

    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it('on a replica fails where none serves, whatever fallback says', async () => {
    const { db, servers } = await split.warm({ rwSplit: { fallback: 'primary' } });
    for (const { name } of cluster().replicas) await rwSplit(db).drain(name);

    await expect(onReplica(db('notes').select())).rejects.toMatchObject({
      code: 'RWSPLIT_NO_HOST',
    });
    expect(servers()).toEqual([]);
  });

  it.each([
    [{ target: 'slave' }, 'queryContext.rwSplit.target is "slave"; it must be one of'],
    [{ hosts: 'replica-1' }, 'a hint has target, host, tag and consistency'],
    [{ host: 1 }, 'queryContext.rwSplit.host is 1; it must be a string'],
    ['primary', 'queryContext.rwSplit is "primary"; it must be an object'],
    [{ host: 'replica-9' }, 'No host is named "replica-9"; there are 127.0.0.1:'],
  ])('that makes no sense is refused: %j', async (hint, message) => {
    const { db, servers } = await split.warm();
    const query = db('notes').queryContext({ rwSplit: hint });

    await expect(query).rejects.toThrow(ConfigError);
    await expect(query.clone()).rejects.toThrow(message);
    expect(servers()).toEqual([]);
  });

  it('in a comment with another word is refused', async () => {
    const { db, servers } = await split.warm();

    await expect(db.raw('/* rwsplit: elsewhere */ select 1')).rejects.toThrow(ConfigError);
    expect(servers()).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { ReadOnlyHostError, onReplica } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

const writes: [string, (db: Knex) => PromiseLike<unknown>][] = [
  ['insert', (db) => db('notes').insert({ body: 'hinted' }).modify(onReplica)],
  ['update', (db) => onReplica(db('notes').update({ rank: 1 }))],
  ['del', (db) => onReplica(db('notes').del())],
  ['truncate', (db) => onReplica(db('notes').truncate())],
  ['a schema builder', (db) => onReplica(db.schema.dropTable('notes'))],
  ['raw text', (db) => onReplica(db.raw('delete from notes'))],
  [
    'a data-modifying with',
    (db) => onReplica(db.with('x', db.raw('delete from notes returning *')).from('x').select()),
  ],
  ['a lock', (db) => onReplica(db('notes').forUpdate().select())],
  ['a stream', (db) => onReplica(db('notes').insert({}).returning('id')).stream().toArray()],
  [
    'queryContext',
    (db) =>
      db('notes')
        .del()
        .queryContext({ rwSplit: { target: 'replica' } }),
  ],
  [
    'queryContext with a replica',
    (db) =>
      db('notes')
        .del()
        .queryContext({ rwSplit: { host: 'replica-1' } }),
  ],
  ['a leading comment', (db) => db.raw('/* rwsplit: replica */ delete from notes')],
];

describe('A hint', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it.each(writes)('that would send a write to a replica sends nothing: %s', async (_, run) => {
    const { db, servers } = await split.warm();

    await expect(run(db)).rejects.toThrow(ReadOnlyHostError);
    expect(servers()).toEqual([]);
    expect(
      await cluster().primary.query("select from pg_tables where tablename = 'notes'"),
    ).toHaveLength(1);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

type Role = 'primary' | 'replica';

// What to await, and where it runs; each name is the member of Knex that it is about.
const entries: [string, Role, (db: Knex) => PromiseLike<unknown>][] = [
  ['select', 'replica', (db) => db('notes').select('body')],
  ['select without a table', 'replica', (db) => db.select(db.raw('1 as one'))],
  ['first', 'replica', (db) => db('notes').first()],
  ['pluck', 'replica', (db) => db('notes').pluck('id')],
  ['distinct', 'replica', (db) => db('notes').distinct('rank')],
  ['count', 'replica', (db) => db('notes').count()],
  ['countDistinct', 'replica', (db) => db('notes').countDistinct('rank')],
  ['min', 'replica', (db) => db('notes').min('rank')],
  ['max', 'replica', (db) => db('notes').max('rank')],
  ['sum', 'replica', (db) => db('notes').sum('rank')],
  ['avg', 'replica', (db) => db('notes').avg('rank')],
  ['rank', 'replica', (db) => db('notes').rank('place', 'rank')],
  ['join', 'replica', (db) => db('notes as a').join('notes as b', 'a.id', 'b.rank').select('a.id')],
  [
    'groupBy, having',
    'replica',
    (db) => db('notes').groupBy('rank').havingRaw('count(*) > 1').pluck('rank'),
  ],
  ['whereExists', 'replica', (db) => db('notes').whereExists(db('notes').where('rank', 3))],
  ['whereIn of a query', 'replica', (db) => db('notes').whereIn('id', db('notes').select('rank'))],
  ['with', 'replica', (db) => db.with('n', db('notes').select()).from('n').select()],
  [
    'withRecursive',
    'replica',
    (db) => db.withRecursive('n', ['i'], recursive(db)).from('n').select(),
  ],
  ['withMaterialized', 'replica', (db) => db.withMaterialized('n', db('notes')).from('n').select()],
  [
    'withNotMaterialized',
    'replica',
    (db) => db.withNotMaterialized('n', db('notes')).from('n').select(),
  ],
  ['union', 'replica', (db) => db('notes').select('id').union(db('notes').select('rank'))],
  ['intersect', 'replica', (db) => db('notes').select('id').intersect(db('notes').select('rank'))],
  ['from(raw)', 'replica', (db) => db.from(db.raw('generate_series(1, 3) as s')).select()],
  ['fn.now()', 'replica', (db) => db.select(db.fn.now())],
  ['fn.uuid()', 'replica', (db) => db.select(db.fn.uuid())],
  ['raw', 'replica', (db) => db.raw('select ? + 1', [1])],
  ['raw with named bindings', 'replica', (db) => db.raw('select :one + 1', { one: 1 })],
  [
    'whereJsonPath',
    'replica',
    (db) => db.from<{ j: string }>(json(db)).whereJsonPath('j', '$.a', '=', 1),
  ],
  ['a ? operator', 'replica', (db) => db.from(json(db)).whereRaw(String.raw`j \? 'a'`)],
  ['asCallback', 'replica', (db) => calledBack(db('notes').select())],
  ['stream', 'replica', (db) => db('notes').select().stream().toArray()],
  ['clone', 'replica', (db) => db('notes').where('rank', 1).clone().select()],
  ['modify', 'replica', (db) => db('notes').modify((query) => void query.where('rank', 1))],
  ['withSchema', 'replica', (db) => db.withSchema('public').from('notes').select()],
  ['timeout', 'replica', (db) => db('notes').select().timeout(10_000)],
  ['options', 'replica', (db) => db('notes').select().options({ rowMode: 'array' })],

  ['insert', 'primary', (db) => db('notes').insert({ rank: 1 })],
  ['insert returning', 'primary', (db) => db('notes').insert({ rank: 1 }).returning('id')],
  [
    'insert of a query',
    'primary',
    (db) => db(db.raw('notes (rank)')).insert(db('notes').select('rank').limit(1)),
  ],
  ['insert of nothing', 'primary', (db) => db('notes').insert({})],
  [
    'onConflict.merge',
    'primary',
    (db) => db('notes').insert({ body: 'a' }).onConflict('body').merge(),
  ],
  [
    'onConflict.ignore',
    'primary',
    (db) => db('notes').insert({ body: 'a' }).onConflict('body').ignore(),
  ],
  [
    'upsert by raw',
    'primary',
    (db) => db.raw("insert into notes (body) values ('a') on conflict do nothing"),
  ],
  ['update', 'primary', (db) => db('notes').where('rank', 1).update({ rank: 2 })],
  ['update of nothing', 'primary', (db) => db('notes').whereRaw('false').update({ rank: 2 })],
  [
    'updateFrom',
    'primary',
    (db) => db('notes').updateFrom('here').update({ rank: 1 }).whereRaw('one = 2'),
  ],
  ['increment', 'primary', (db) => db('notes').where('rank', 9).increment('rank')],
  ['decrement', 'primary', (db) => db('notes').where('rank', 9).decrement('rank')],
  ['del', 'primary', (db) => db('notes').where('rank', -1).del()],
  ['delete', 'primary', (db) => db('notes').where('rank', -1).delete()],
  ['delete using', 'primary', (db) => db('notes').using(['here']).whereRaw('one = 2').del()],
  [
    'with, in an update',
    'primary',
    (db) => db('notes').with('n', db('notes').select()).update({ rank: 0 }).whereRaw('false'),
  ],
  ['truncate', 'primary', (db) => db('spare').truncate()],
  ['batchInsert', 'primary', (db) => db.batchInsert('notes', [{ rank: 1 }, { rank: 2 }], 1)],
  ['transaction', 'primary', (db) => db.transaction(async (trx) => trx('notes').select())],
  [
    'stream of an insert',
    'primary',
    (db) => db('notes').insert({ rank: 1 }).returning('id').stream().toArray(),
  ],
  ['columnInfo', 'primary', (db) => db('notes').columnInfo()],
  [
    'schema.createTable',
    'primary',
    (db) => db.schema.createTable('made', (table) => table.increments()),
  ],
  [
    'schema.alterTable',
    'primary',
    (db) => db.schema.alterTable('made', (table) => table.text('body')),
  ],
  ['schema.hasTable', 'primary', (db) => db.schema.hasTable('made')],
  ['schema.hasColumn', 'primary', (db) => db.schema.hasColumn('made', 'body')],
  ['schema.renameTable', 'primary', (db) => db.schema.renameTable('made', 'renamed')],
  [
    'schema.createView',
    'primary',
    (db) => db.schema.createView('seen', (view) => void view.as(db('notes').select('id'))),
  ],
  ['schema.dropView', 'primary', (db) => db.schema.dropView('seen')],
  ['schema.raw', 'primary', (db) => db.schema.raw("comment on table renamed is 'of the tests'")],
  ['schema.dropTableIfExists', 'primary', (db) => db.schema.dropTableIfExists('renamed')],
];

describe('Every way to build a statement', () => {
  const split = useSplit(useRoutingDatabase('create table spare (id int);'));

  it.each(['split', 'prefer-replica'] as const)(
    'runs where it belongs, by target %s',
    async (target) => {
      const { db, servers } = await split.warm({ rwSplit: { target } });

      expect(await serve(db, servers)).toEqual(entries.map(([name, role]) => [name, [role]]));
    },
  );

  it('runs on the primary where that is the target', async () => {
    const { db, servers } = await split.warm({ rwSplit: { target: 'primary' } });

    expect(await serve(db, servers)).toEqual(entries.map(([name]) => [name, ['primary']]));
  });

  it('runs on one server, without a list of replicas', async () => {
    const { db, servers } = split.cold({ rwSplit: { replicas: [] } });

    expect(await serve(db, servers)).toEqual(entries.map(([name]) => [name, ['primary']]));
  });
});

async function serve(db: Knex, servers: () => string[]): Promise<[string, string[]][]> {
  const served: [string, string[]][] = [];
  for (const [name, , run] of entries) {
    await run(db);
    served.push([name, [...new Set(servers().map((server) => server.replace(/-\d+$/, '')))]]);
  }
  return served;
}

function recursive(db: Knex): Knex.Raw {
  return db.raw('select 1 union all select i + 1 from n where i < 3');
}

function json(db: Knex): Knex.Raw {
  return db.raw(`(select '{"a":1}'::jsonb as j) t`);
}

function calledBack(query: Knex.QueryBuilder): Promise<unknown> {
  return new Promise((resolve, reject) => {
    void query.asCallback((error: unknown, rows: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(rows);
    });
  });
}

import { Writable } from 'node:stream';
import type { Knex } from 'knex';

/** What a method is called with: arguments, or what does it all by itself. */
export type Use = readonly unknown[] | ((query: Knex.QueryBuilder, db: Knex) => unknown);

const isTrue = (db: Knex): Knex.Raw => db.raw('1 = 1');
const both = [1, 2] as const;
const none = [7, 8] as const;
const path = ['$.a', '=', 1] as const;

/** A callback of Knex for a nested group of conditions. */
function nested(this: Knex.QueryBuilder): void {
  void this.where('rank', '>', 1);
}

/** Groups first, so that a condition on groups can follow. */
const having =
  (name: string, ...args: readonly unknown[]): Use =>
  (query) =>
    call(query.select('rank').groupBy('rank'), name, args);

const other =
  (name: string): Use =>
  (query, db) =>
    call(query.select('id'), name, [db('facts').select('rank')]);

const join =
  (name: string): Use =>
  (query) =>
    call(query.select('facts.id').orderBy('facts.id'), name, ['facts as o', 'o.id', 'facts.rank']);

const locked =
  (name: string): Use =>
  (query) =>
    name === 'skipLocked' || name === 'noWait'
      ? call(query.forUpdate(), name, [])
      : call(query, name, []);

/** Calls a method that has no type because its name comes from a list. */
export function call(of: object, name: string, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(of, name);
  if (typeof method !== 'function') throw new TypeError(`There is no ${name}().`);
  return Reflect.apply(method as (...args: readonly unknown[]) => unknown, of, args);
}

const named = (names: readonly string[], use: (name: string) => Use): Record<string, Use> =>
  Object.fromEntries(names.map((name) => [name, use(name)]));

/** Each reading method of the query builder, on the table `facts (id, body, rank, j)`. */
export const reads: Readonly<Record<string, Use>> = {
  ...named(['select', 'column', 'columns', 'distinct', 'distinctOn', 'pluck'], () => ['rank']),
  ...named(
    [
      'count',
      'min',
      'max',
      'sum',
      'avg',
      'countDistinct',
      'sumDistinct',
      'avgDistinct',
      'groupBy',
      'orderBy',
    ],
    (name) => (query) =>
      call(name === 'groupBy' || name === 'orderBy' ? query.select('rank') : query, name, ['rank']),
  ),
  ...named(['rank', 'denseRank', 'rowNumber'], () => ['place', 'rank']),
  ...named(['where', 'andWhere', 'orWhere', 'orHaving', 'having'], (name) =>
    name.toLowerCase().includes('having') ? having(name, 'rank', '>', 1) : ['rank', 2],
  ),
  ...named(['whereNot', 'andWhereNot', 'orWhereNot'], () => ['rank', 2]),
  ...named(
    [
      'whereColumn',
      'orWhereColumn',
      'andWhereColumn',
      'whereNotColumn',
      'orWhereNotColumn',
      'andWhereNotColumn',
    ],
    () => ['id', 'rank'],
  ),
  ...named(['whereRaw', 'orWhereRaw', 'andWhereRaw'], () => ['rank = ?', [2]]),
  ...named(
    ['whereExists', 'orWhereExists', 'whereNotExists', 'orWhereNotExists'],
    (name) => (query, db) => call(query, name, [db('facts').where('rank', 3)]),
  ),
  ...named(['whereIn', 'orWhereIn', 'whereNotIn', 'orWhereNotIn'], () => ['id', both]),
  ...named(['whereNull', 'orWhereNull', 'whereNotNull', 'orWhereNotNull'], () => ['body']),
  ...named(
    [
      'whereBetween',
      'orWhereBetween',
      'andWhereBetween',
      'whereNotBetween',
      'orWhereNotBetween',
      'andWhereNotBetween',
    ],
    () => ['rank', both],
  ),
  ...named(
    ['whereLike', 'orWhereLike', 'andWhereLike', 'whereILike', 'orWhereILike', 'andWhereILike'],
    () => ['body', 'A%'],
  ),
  ...named(
    [
      'whereJsonObject',
      'orWhereJsonObject',
      'andWhereJsonObject',
      'whereNotJsonObject',
      'orWhereNotJsonObject',
      'andWhereNotJsonObject',
      'whereJsonSupersetOf',
      'orWhereJsonSupersetOf',
      'whereJsonNotSupersetOf',
      'orWhereJsonNotSupersetOf',
      'whereJsonSubsetOf',
      'orWhereJsonSubsetOf',
      'whereJsonNotSubsetOf',
      'orWhereJsonNotSubsetOf',
    ],
    () => ['j', { a: 1 }],
  ),
  ...named(['whereJsonPath', 'orWhereJsonPath', 'andWhereJsonPath'], () => ['j', ...path]),
  jsonExtract: ['j', '$.a', 'found'],
  jsonSet: ['j', '$.a', '2', 'changed'],
  jsonInsert: ['j', '$.b', '2', 'changed'],
  jsonRemove: ['j', '$.a', 'changed'],
  whereWrapped: [nested],
  havingWrapped: (query) =>
    call(query.select('rank').groupBy('rank'), 'havingWrapped', [
      function (this: Knex.QueryBuilder) {
        void this.having('rank', '>', 1);
      },
    ]),
  ...named(['havingNull', 'orHavingNull', 'andHavingNull'], (name) => having(name, 'rank')),
  ...named(['havingNotNull', 'orHavingNotNull', 'andHavingNotNull'], (name) =>
    having(name, 'rank'),
  ),
  ...named(['havingIn', 'orHavingIn', 'andHavingIn'], (name) => having(name, 'rank', both)),
  ...named(['havingNotIn', 'orHavingNotIn', 'andHavingNotIn'], (name) =>
    having(name, 'rank', none),
  ),
  ...named(['havingBetween', 'orHavingBetween', 'andHavingBetween'], (name) =>
    having(name, 'rank', both),
  ),
  ...named(['havingNotBetween', 'orHavingNotBetween', 'andHavingNotBetween'], (name) =>
    having(name, 'rank', none),
  ),
  ...named(['havingRaw', 'orHavingRaw'], (name) => having(name, 'count(*) > ?', [0])),
  ...named(
    [
      'havingExists',
      'orHavingExists',
      'andHavingExists',
      'havingNotExists',
      'orHavingNotExists',
      'andHavingNotExists',
    ],
    (name) => (query, db) =>
      call(query.select('rank').groupBy('rank'), name, [db('facts').where('rank', 3)]),
  ),
  andHaving: having('andHaving', 'rank', '>', 1),
  ...named(['union', 'unionAll', 'intersect', 'except'], other),
  ...named(
    [
      'join',
      'innerJoin',
      'leftJoin',
      'leftOuterJoin',
      'rightJoin',
      'rightOuterJoin',
      'fullOuterJoin',
    ],
    join,
  ),
  crossJoin: (query) => query.select('facts.id').crossJoin('facts as o' as never),
  joinRaw: (query) => query.select('facts.id').joinRaw('natural join (select 1 as id) as o'),
  ...named(
    ['with', 'withMaterialized', 'withNotMaterialized', 'withWrapped'],
    (name) => (query, db) => call(query, name, ['n', db('facts').select('id')]),
  ),
  ...named(
    ['withRecursive', 'withRecursiveWrapped'],
    (name) => (query, db) =>
      call(query.from('n'), name, [
        'n',
        db.raw('select 1 as i union all select i + 1 from n where i < 3'),
      ]),
  ),
  comment: ['of the tests'],
  hintComment: ['of_the_tests'],
  as: (query, db) => db.from(query.as('inner')),
  ...named(['from', 'table', 'into'], () => ['facts']),
  fromRaw: ['facts'],
  fromJS: (query) => call(query, 'fromJS', [{ where: ['rank', 2] }]),
  withSchema: ['public'],
  groupByRaw: (query) => query.select('rank').groupByRaw('rank'),
  orderByRaw: ['rank desc'],
  offset: [1],
  limit: [1],
  first: ['id'],
  modify: [(query: Knex.QueryBuilder) => void query.where('rank', 2)],
  clearSelect: (query) => query.select('rank').clearSelect(),
  clearWhere: (query) => query.where('rank', 9).clearWhere(),
  clearGroup: (query) => query.select('rank').groupBy('id').clearGroup(),
  clearOrder: (query) => query.orderBy('nowhere').clearOrder(),
  clearHaving: (query) => query.having('nowhere', '>', 1).clearHaving(),
  clear: (query) => query.where('rank', 9).clear('where'),
  clearCounters: [],
  timeout: [10_000],
  options: [{ rowMode: 'array' }],
  debug: [false],
  queryContext: [{ tenant: 1 }],
  clone: [],
  // oxlint-disable-next-line unicorn/no-thenable -- a row of a table that is never awaited.
  then: (query) => query.then((rows: object[]) => rows.length),
  catch: (query) => call(query, 'catch', [String]),
  finally: (query) => call(query, 'finally', [() => undefined]),
  asCallback: (query) =>
    new Promise((resolve) => {
      void call(query, 'asCallback', [(...told: unknown[]) => resolve(told)]);
    }),
  stream: (query) => query.stream().toArray(),
  pipe: (query) =>
    new Promise((resolve, reject) => {
      const rows: unknown[] = [];
      const write = (row: unknown, _: unknown, done: () => void): void => {
        rows.push(row);
        done();
      };
      const sink = new Writable({ objectMode: true, write });
      (call(query, 'pipe', [sink]) as Writable)
        .on('finish', () => resolve(rows))
        .on('error', reject);
    }),
};

/** Each method of the query builder that writes, or locks, on a table `drafts` like `facts`. */
export const writes: Readonly<Record<string, Use>> = {
  insert: [{ rank: 9 }],
  update: [{ rank: 9 }],
  updateFrom: (query) =>
    query.updateFrom('facts').update({ rank: 9 }).whereRaw('facts.id = drafts.id'),
  using: (query) =>
    call(query, 'using', [['facts']]) && query.whereRaw('facts.id = drafts.id').del(),
  increment: ['rank'],
  decrement: ['rank', 2],
  returning: (query) => query.insert({ rank: 9 }).returning(['id', 'rank']),
  onConflict: (query) => query.insert({ id: 1, rank: 9 }).onConflict('id').merge(),
  delete: [],
  del: [],
  truncate: [],
  columnInfo: [],
  ...named(
    ['forUpdate', 'forShare', 'forNoKeyUpdate', 'forKeyShare', 'skipLocked', 'noWait'],
    locked,
  ),
  connection: async (query, db) => {
    const connection = (await db.client.acquireConnection()) as never;
    try {
      return await query.connection(connection);
    } finally {
      await db.client.releaseConnection(connection);
    }
  },
  transacting: async (query, db) => db.transaction(async (trx) => query.transacting(trx)),
};

/** What PostgreSQL has not, and says so. */
export const foreign: Readonly<Record<string, Use>> = { outerJoin: join('outerJoin') };

/** Those that send nothing: they answer at once, or Knex refuses them. */
export const silent: Readonly<Record<string, Use>> = {
  toString: [],
  toSQL: (query) => query.where('rank', 2).toSQL().toNative(),
  toQuery: [],
  upsert: [{ rank: 9 }],
  whereJsonHasNone: ['j', ['a']],
  isValidStatementArg: (query, db) => call(query, 'isValidStatementArg', [isTrue(db)]),
};

import type { Knex } from 'knex';
import { call } from './query-surface.ts';

/** What a member of a Knex instance is used for, and the roles that are asked then. */
interface InstanceUse {
  readonly use: (db: Knex) => unknown;
  readonly roles: readonly string[];
}

const onPrimary = (use: InstanceUse['use']): InstanceUse => ({ use, roles: ['primary'] });
const onReplica = (use: InstanceUse['use']): InstanceUse => ({ use, roles: ['replica'] });
const silent = (use: InstanceUse['use']): InstanceUse => ({ use, roles: [] });

// Knex lists it, and its builder has it not.
const missing = (name: string): InstanceUse => silent((db) => call(db, name, ['j', { a: 1 }]));

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => [],
  getMigrationName: String,
  getMigration: async () => ({ up: async () => undefined }),
};

/** Each member of an instance that begins no query of one builder. */
export const instanceUses: Readonly<Record<string, InstanceUse>> = {
  andWhereJsonNotSubsetOf: missing('andWhereJsonNotSubsetOf'),
  andWhereJsonNotSupersetOf: missing('andWhereJsonNotSupersetOf'),
  andWhereJsonSubsetOf: missing('andWhereJsonSubsetOf'),
  andWhereJsonSupersetOf: missing('andWhereJsonSupersetOf'),
  batchInsert: onPrimary((db) => db.batchInsert('drafts', [{ rank: 7 }, { rank: 8 }], 1)),
  client: silent(({ client }) => [client.config.client, client.dialect, client.driverName]),
  context: silent((db) => Object.keys(Reflect.get(db, 'context') as object).toSorted()),
  disableProcessing: silent((db) => call(db, 'disableProcessing', [])),
  enableProcessing: silent((db) => call(db, 'enableProcessing', [])),
  fn: onReplica((db) =>
    db
      .select(db.raw("? < 'infinity' as is_past", [db.fn.now()]))
      .from('facts')
      .limit(1),
  ),
  migrate: onPrimary((db) => db.migrate.currentVersion({ migrationSource })),
  queryBuilder: onReplica((db) => db.queryBuilder().from('facts').select('id')),
  raw: onReplica((db) => db.raw('select ? + 1 as two', [1])),
  ref: onReplica((db) => db('facts').where('id', db.ref('rank')).select(db.ref('id').as('it'))),
  schema: onPrimary((db) => db.schema.hasTable('facts')),
  seed: onPrimary((db) =>
    db.seed.run({
      seedSource: {
        getSeeds: async () => ['one'],
        getSeed: async () => ({ seed: async (own: Knex) => own('drafts').insert({ rank: 7 }) }),
      } as never,
    }),
  ),
  transaction: onPrimary((db) => db.transaction(async (trx) => trx('drafts').pluck('id'))),
  transactionProvider: onPrimary(async (db) => {
    const trx = await db.transactionProvider()();
    const ids = await trx('drafts').pluck('id');
    await trx.commit();
    return [ids, trx.isCompleted()];
  }),
  userParams: silent((db) => db.userParams),
  withUserParams: onReplica((db) => {
    const clone = db.withUserParams({ tenant: 1 });
    return clone('facts')
      .pluck('id')
      .then((ids: unknown) => [clone.userParams, ids]);
  }),
  // Last: what follows has another pool.
  destroy: silent((db) => db.destroy()),
  initialize: onReplica(async (db) => {
    db.initialize();
    return db('facts').pluck('id');
  }),
};

import type { Knex } from 'knex';
import { onConnection } from './on-connection.ts';
import { call } from './query-surface.ts';

type SchemaUse = (schema: Knex.SchemaBuilder, db: Knex) => PromiseLike<unknown>;

const column = (made: Knex.CreateTableBuilder): void => void made.integer('id');
const asOld = (view: Knex.ViewBuilder): void =>
  void Reflect.apply(view.as, view, [
    { toString: () => 'select 1 as id', toSQL: () => ({ sql: 'select 1 as id' }) },
  ]);

/** Each method of the schema builder, on a schema with the table `old` and the views `view` and `kept`. */
export const schemaUses: Readonly<Record<string, SchemaUse>> = {
  withSchema: (schema) => schema.withSchema('made').hasTable('old'),
  createTable: (schema) => schema.createTable('one', column),
  createTableIfNotExists: (schema) => schema.createTableIfNotExists('old', column),
  createTableLike: (schema) => schema.createTableLike('one', 'old'),
  table: (schema) => schema.table('old', (made) => void made.text('body')),
  alterTable: (schema) => schema.alterTable('old', (made) => void made.text('body')),
  hasTable: (schema) => schema.hasTable('old'),
  hasColumn: (schema) => schema.hasColumn('old', 'id'),
  renameTable: (schema) => schema.renameTable('kept', 'other'),
  dropTable: (schema) => schema.dropTable('nowhere'),
  dropTableIfExists: (schema) => schema.dropTableIfExists('nowhere'),
  createView: (schema) => schema.createView('one', asOld),
  createViewOrReplace: (schema) => schema.createViewOrReplace('one', asOld),
  createMaterializedView: (schema) => schema.createMaterializedView('one', asOld),
  refreshMaterializedView: (schema) => schema.refreshMaterializedView('kept'),
  view: (schema) => schema.view('view', (view) => void view.column('id').rename('it')),
  alterView: (schema) => schema.alterView('view', (view) => void view.column('id').rename('it')),
  renameView: (schema) => schema.renameView('view', 'other'),
  dropView: (schema) => schema.dropView('view'),
  dropViewIfExists: (schema) => schema.dropViewIfExists('view'),
  dropMaterializedView: (schema) => schema.dropMaterializedView('kept'),
  dropMaterializedViewIfExists: (schema) => schema.dropMaterializedViewIfExists('kept'),
  createSchema: (schema) => schema.createSchema('made'),
  createSchemaIfNotExists: (schema) => schema.createSchemaIfNotExists('made'),
  dropSchema: (schema) => schema.dropSchema('nowhere'),
  dropSchemaIfExists: (schema) => schema.dropSchemaIfExists('nowhere'),
  createExtension: async (schema) => call(schema, 'createExtension', ['plpgsql']),
  createExtensionIfNotExists: async (schema) =>
    call(schema, 'createExtensionIfNotExists', ['plpgsql']),
  dropExtension: async (schema) => call(schema, 'dropExtension', ['nowhere']),
  dropExtensionIfExists: async (schema) => call(schema, 'dropExtensionIfExists', ['nowhere']),
  raw: (schema) => schema.raw("comment on table made.old is 'old'"),
  // oxlint-disable-next-line unicorn/no-thenable -- a row of a table that is never awaited.
  then: (schema) => schema.hasTable('old').then((has: boolean) => has),
  catch: (schema) => call(schema.hasTable('old'), 'catch', [String]) as Promise<unknown>,
  finally: (schema) => call(schema.hasTable('old'), 'finally', [() => 1]) as Promise<unknown>,
  asCallback: (schema) =>
    new Promise((resolve) => {
      void call(schema.hasTable('old'), 'asCallback', [(...told: unknown[]) => resolve(told)]);
    }),
  debug: (schema) => call(schema.hasTable('old'), 'debug', [false]) as Promise<unknown>,
  options: (schema) => call(schema.hasTable('old'), 'options', [{}]) as Promise<unknown>,
  queryContext: async (schema) => call(schema.hasTable('old'), 'queryContext', [{ tenant: 1 }]),
  stream: async (schema) =>
    (
      call(schema.raw('select 1 as one'), 'stream', []) as NodeJS.ReadableStream & {
        toArray(): Promise<unknown[]>;
      }
    )
      .toArray()
      .catch(String),
  connection: async (schema, db) =>
    onConnection(db, (connection) => call(schema.hasTable('old'), 'connection', [connection])),
  transacting: async (schema, db) =>
    db.transaction(async (trx) => call(schema.hasTable('old'), 'transacting', [trx])),
};

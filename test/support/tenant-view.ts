import type { Knex } from 'knex';

/** What a tenant's query sees of its state: each value the tenant's name, `notes` apart. */
export interface TenantView {
  readonly role: string;
  readonly setting: string;
  readonly schema: string;
  readonly notes: string;
  readonly item: string;
}

/** A query that shows all that a tenant's state decides: unqualified names, rights, rows. */
export function viewQuery(db: Knex): Knex.QueryBuilder<object, TenantView[]> {
  return db
    .select(
      db.raw('current_user as role'),
      db.raw("current_setting('app.tenant', true) as setting"),
      'whose.name as schema',
      db('notes').count().as('notes'),
      db('items').max('tenant').as('item'),
    )
    .from('whose');
}

/** What {@link viewQuery} has to answer. */
export function viewOf(name: string): TenantView {
  return { role: name, setting: name, schema: name, notes: '1', item: name };
}

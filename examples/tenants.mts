import knex, { type Knex } from 'knex';
import { RWSplitClient, rwSplit, SessionStateError } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
// A URL of several hosts; with a single one, say so: `rwSplit: { replicas: [] }`.
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });

// One table for all, of which each tenant sees its own rows.
await db.raw(`
  create table invoices (tenant text default current_setting('app.tenant'), total int);
  alter table invoices enable row level security;
  create policy own_rows on invoices using (tenant = current_setting('app.tenant', true));
  create role tenant_user;
  grant usage on schema public to tenant_user;
  grant select, insert on invoices to tenant_user;
`);

// Cheap enough for each request; all tenants share the connections of `db`.
function forTenant(tenant: string): Knex {
  return rwSplit(db).withState({ role: 'tenant_user', settings: { 'app.tenant': tenant } });
}

await forTenant('acme')('invoices').insert({ total: 10 });
await forTenant('umbrella').transaction(async (trx) => {
  await trx('invoices').insert([{ total: 20 }, { total: 30 }]);
});

console.log(await forTenant('acme')('invoices').pluck('total')); // → [ 10 ]
console.log(await forTenant('umbrella')('invoices').pluck('total')); // → [ 20, 30 ]

// Or everything that a function runs, by whichever instance.
const sum = await rwSplit(db).inState(
  { role: 'tenant_user', settings: { 'app.tenant': 'umbrella' } },
  async () => db('invoices').sum('total as sum').first(),
);
console.log(sum); // → { sum: '50' }

// A state that can't be set up: the statement is not run.
const wrong = rwSplit(db).withState({ role: 'nobody_at_all' });
await wrong('invoices')
  .insert({ total: 0 })
  .catch((error: unknown) => console.log(error instanceof SessionStateError)); // → true

await db.raw('drop table invoices; drop owned by tenant_user; drop role tenant_user');
await db.destroy();

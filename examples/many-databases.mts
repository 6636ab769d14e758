import knex, { type Knex } from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;

// A Knex instance for each database; all together they hold 20 connections to a server at most.
function open(url: string): Knex {
  return knex({
    client: RWSplitClient,
    connection: url,
    pool: { min: 0, max: 10 }, // of one database
    rwSplit: { maxPerServer: 20 },
  });
}

const shop = open(DATABASE_URL);
const crm = open(DATABASE_URL.replace(/[^/]+$/, 'postgres'));
await Promise.all([shop.raw('select 1'), crm.raw('select 1')]);

console.log(rwSplit(shop).hosts()[0]?.budget?.max); // → 20
await Promise.all([shop.destroy(), crm.destroy()]);

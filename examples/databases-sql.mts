import databasesSql from '@databases/sql';
import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { default: sql } = databasesSql;
const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
rwSplit(db).on('route', ({ role }) => console.log(role));

const item = 'tea';
const isTea = sql`item = ${item}`;
const rows = await rwSplit(db).query(sql`select item from orders where ${isTea} limit 1`); // → replica
console.log(rows); // → [ { item: 'tea' } ]

await db.transaction(async (trx) => {
  await rwSplit(trx).query(sql`delete from orders where ${isTea}`);
}); // → primary

await db.destroy();

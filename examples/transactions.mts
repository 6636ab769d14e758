import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
rwSplit(db).on('route', ({ role, reason }) => console.log(`${role}: ${reason}`));

// All on one connection of one replica: a consistent report that costs the primary nothing.
await db.transaction(
  async (trx) => {
    await trx('orders').sum('quantity');
    await trx('orders').max('id');
  },
  { readOnly: true, isolationLevel: 'repeatable read' },
);
// → replica: a read-only transaction

// All on one connection of the primary, reads included.
await db.transaction(async (trx) => {
  await trx('orders').insert({ item: 'sugar' });
  console.log(await trx('orders').where({ item: 'sugar' }).pluck('quantity'));
});
// → primary: a transaction
// → [ 1 ]

await db.destroy();

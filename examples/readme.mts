import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { PRIMARY_URL = '', REPLICA_URLS = '' } = process.env;

const db = knex({
  client: RWSplitClient, // instead of 'pg'
  connection: PRIMARY_URL, // the primary, as before
  rwSplit: { replicas: REPLICA_URLS.split(',') }, // new
});
rwSplit(db).on('route', ({ role }) => console.log(role));

await db('orders').where({ item: 'tea' }); // → replica
await db.raw('select count(*) from orders'); // → replica
await db('orders').insert({ item: 'tea' }); // → primary
await db('orders').where({ id: 1 }).forUpdate(); // → primary

await db.transaction(async (trx) => {
  await trx('orders').where({ id: 1 }).update({ quantity: 2 });
  await trx('orders').where({ id: 1 }); // sees the update
}); // → primary

await db.destroy();

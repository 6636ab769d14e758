import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { PRIMARY_URL = '', REPLICA_URLS = '' } = process.env;
const replicas = REPLICA_URLS.split(',');

// Was: a third instance whose runners are those of two others, by the method of the builder.
const writer = knex({ client: 'pg', connection: PRIMARY_URL });
const reader = knex({ client: 'pg', connection: replicas[0] ?? '' });
const patched = knex({ client: 'pg' });
patched.client.runner = (builder: { _method?: string }) => {
  const { _method: method = '' } = builder;
  const isRead = ['select', 'first', 'pluck'].includes(method);
  return (isRead ? reader : writer).client.runner(builder);
};
const next = `nextval('orders_id_seq') as id`;
const failure = await patched.select(patched.raw(next)).catch((error: Error) => error.message);
console.log(failure); // → … cannot execute nextval() in a read-only transaction
await Promise.all([writer.destroy(), reader.destroy(), patched.destroy()]);

// Is: the client judges what the text does; delete the patch and the two instances.
const db = knex({ client: RWSplitClient, connection: PRIMARY_URL, rwSplit: { replicas } });
rwSplit(db).on('route', ({ role, reason }) => console.log(`${role}: ${reason}`));
await db.select(db.raw(next)); // → primary: calls nextval
await db('orders').first().forUpdate(); // → primary: …

await db.destroy();

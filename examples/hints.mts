import knex from 'knex';
import { onPrimary, onReplica, RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
rwSplit(db).on('route', ({ role, reason }) => console.log(`${role}: ${reason}`));

// One query.
await db('orders').where({ id: 1 }).modify(onPrimary); // → primary: hint: primary; …
await onPrimary(db.raw('select count(*) from orders')); // → primary: hint: primary; …
await db.raw('/* rwsplit: primary */ select 1'); // → primary: hint: primary; …

// Everything that a function runs, however deep, and a builder that it returns.
await rwSplit(db).onPrimary(async () => {
  await db('orders').insert({ item: 'milk' }); // → primary: scope: primary; …
  await db('orders').where({ item: 'milk' }); // → primary: scope: primary; …
});

// Reads on replicas only: in this scope they never fall back to the primary.
await rwSplit(db).onReplica(async () => {
  await db('orders').count(); // → replica: scope: replica; …
});

// No hint sends a write to a replica.
await onReplica(db('orders').delete()).catch((error: unknown) => {
  console.log(String(error)); // → ReadOnlyHostError: A hint sends this statement to a replica, but it is a delete; …
});

await db.destroy();

import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
const handle = rwSplit(db);

// Where would this go, and why? Nothing is run.
const { intent, reason, hosts } = await handle.explain(db.raw(`select nextval('orders_id_seq')`));
console.log(intent, hosts.length, reason); // → write 1 calls nextval

// Each decision, and each statement that a replica refused and the primary then ran.
handle.on('route', ({ role, reason }) => console.log(role, reason));
handle.on('misroute', ({ host, sql, error }) => console.log(host, sql, error.message));
await db('orders').first(); // → replica …

// Knex's own events say where a query ran, too.
db.on('query-response', (_response, query: { rwSplit: { role: string } }) => {
  console.log(query.rwSplit.role);
});
await db('orders').insert({ item: 'tea' });
// → primary is an insert
// → primary

// What is known of each host: state and why, role, lag, pool, counters, last error.
for (const { role, state, served, pool } of handle.hosts()) {
  if (role === 'primary') console.log(state, served.writes, pool.used, pool.max); // → up 1 0 10
}

// Hosts that come and go, and reads that ran on another host for it.
handle.on('host:down', ({ host, role, reason }) => console.log(host, role, reason));
handle.on('retry', ({ host, next, error }) => console.log(host, next, error.message));
console.log(await handle.checkNow()); // → 3

await db.destroy();

import knex from 'knex';
import { onReplica, RWSplitClient, rwSplit } from 'knex-rwsplit';

const { PRIMARY_URL = '', REPLICA_URLS = '' } = process.env;
const replicas = REPLICA_URLS.split(',');

// Was: two instances, and each query says which.
const writer = knex({ client: 'pg', connection: PRIMARY_URL });
const reader = knex({ client: 'pg', connection: replicas[0] ?? '' });
await writer('orders').insert({ item: 'tea' });
const found = await reader('orders').where({ item: 'tea' }); // there, or not yet
console.log(found.length); // → …
await Promise.all([writer.destroy(), reader.destroy()]);

// Is: one instance. Where other modules import two, both names may stand for it.
const db = knex({ client: RWSplitClient, connection: PRIMARY_URL, rwSplit: { replicas } });
const both = { writer: db, reader: db };
await both.writer('orders').insert({ item: 'tea' });
console.log((await both.reader('orders').where({ item: 'tea' })).length); // → 3

// What had to stay off the primary whatever happens, such as a report, says so.
rwSplit(db).on('route', ({ role }) => console.log(role));
await both.reader('orders').count('*').modify(onReplica); // → replica

await db.destroy();

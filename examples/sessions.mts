import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
const handle = rwSplit(db);
const milk = () => db('orders').where({ item: 'milk' }).pluck('quantity');

// Outside of any scope, the client as a whole is one session.
await db('orders').insert({ item: 'milk' });
console.log(await milk()); // → [ 1 ]

// A session of its own, as for a request: other sessions' writes send none of its reads to the primary.
const token = await handle.session({}, async () => {
  await db('orders').where({ item: 'milk' }).update({ quantity: 2 });
  console.log(await milk()); // → [ 2 ]
  return handle.token();
});

// It begins with nothing to see. What another one has written, it sees by that one's token.
await handle.session({ after: token, waitMillis: 50, monotonic: true }, async () => {
  console.log(await milk()); // → [ 2 ]
});

// What need not be current, and what has to be the primary's own state: for one query, or a session.
await milk().queryContext({ rwSplit: { consistency: 'eventual' } });
await handle.session({ consistency: 'eventual' }, milk);
const strong = milk().queryContext({ rwSplit: { consistency: 'strong' } });
console.log((await handle.explain(strong)).reason); // → consistency: strong; only reads

// How reads were served that have to see something: three of them, up to here.
const counts = handle.hosts().map(({ consistency }) => consistency);
const served = counts.map(({ fresh, checked, forStaleness }) => fresh + checked + forStaleness);
console.log(served.reduce((sum, count) => sum + count)); // → 3

await db.destroy();

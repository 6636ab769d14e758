import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { PRIMARY_URL = '', REPLICA_URLS = '' } = process.env;
const replicas = REPLICA_URLS.split(',');

// Everything still runs on the primary, while the texts are gathered: by the tests, or in production.
const db = knex({
  client: RWSplitClient,
  connection: PRIMARY_URL,
  rwSplit: { replicas, target: 'primary' },
  log: { warn: (message: string) => console.log(message) },
});
const texts = new Set<string>();
db.on('query', ({ sql }: { sql: string }) => texts.add(sql));
await db('orders').where({ item: 'tea' });
await db.raw('select pg_try_advisory_lock(7)'); // → A session-level advisory lock …
await db.raw('select pg_advisory_unlock(7)');
await db.transaction(async (trx) => {
  await trx.raw('create temporary table picked on commit drop as select id from orders');
  await trx('picked').count('*');
});
await db.destroy();

// Where would each go? Nothing is run.
const split = knex({ client: RWSplitClient, connection: PRIMARY_URL, rwSplit: { replicas } });
for (const text of texts) {
  if (/^(begin|commit|rollback)\b/i.test(text)) continue;
  const { intent, reason } = await rwSplit(split).explain(split.raw(text.replaceAll('?', '\\?')));
  console.log(`${intent}: ${text.slice(0, 32)} (${reason})`);
}
// → …: select * from "orders" where "it (…)
// → write: select pg_try_advisory_lock(7) (calls pg_try_advisory_lock)
// → write: select pg_advisory_unlock(7) (calls pg_advisory_unlock)
// → write: create temporary table picked on (…)
// → …: select count(*) from "picked" (…)

await split.destroy();

import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

// postgres://app:secret@pg-1:5432,pg-2:5432,pg-3:5432/shop
const { DATABASE_URL = '' } = process.env;

const db = knex({
  client: RWSplitClient,
  connection: `${DATABASE_URL}?targetServerType=preferSecondary&autoBalance=leastconn`,
});

console.log(
  rwSplit(db)
    .hosts()
    .map(({ role }) => role),
); // → [ 'primary', 'replica', 'replica' ]
console.log((await rwSplit(db).explain(db('orders'))).reason); // → target: prefer-replica; …

await db.destroy();

import knex from 'knex';
import { type ErrorRoute, RWSplitClient } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });

/** Runs a write that may run twice without harm: once more where nobody knows whether it ran. */
async function surely<T>(write: () => Promise<T>): Promise<T> {
  return write().catch(async (error: Error & { rwSplit?: ErrorRoute }) => {
    const { outcome, role, attempts } = error.rwSplit ?? {};
    console.log(outcome, role, attempts?.length, attempts?.[0]?.code);
    if (outcome !== 'unknown') throw error;
    return write();
  });
}

// The caller chose the key, so that a second run finds what the first one may have done.
const pay = async (amount: unknown) =>
  db('payments').insert({ key: 'order-77', amount }).onConflict('key').ignore();

// The first time, the server ends the connection under the statement.
const amounts = [db.raw('pg_terminate_backend(pg_backend_pid())::int'), 250];
await surely(() => pay(amounts.shift())); // → unknown primary 1 57P01
console.log(await db('payments').where({ key: 'order-77' }).forUpdate().pluck('amount')); // → [ 250 ]

await db.destroy();

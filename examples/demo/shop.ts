import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { onPrimary } from 'knex-rwsplit';

/** Something that the shop does, over and over; answers with the reference of the order that it placed. */
export type Task = (db: Knex) => PromiseLike<unknown>;

/*
 * The everyday work of a shop, written as for one server.
 *
 * A comment in a statement tells what its author means it to be: that is how the summary, which
 * reads the servers' logs, knows what to expect.
 */

/** What only looks. */
export const reads: readonly Task[] = [
  (db) => db('products').where('stock', '>', 0).orderBy('id').limit(10).comment('read'),
  (db) => db('orders').where({ product: anyProduct() }).count().comment('read'),
  (db) => db('products').where({ id: anyProduct() }).first().comment('read'),
  (db) => db.raw('/* read */ select name, revenue(id) from products where id = ?', [anyProduct()]),
  (db) =>
    db.raw(`/* read */ select 'for update; insert into orders' as harmless, $$nextval('x')$$`),
  (db) => db.raw('explain /* read */ select * from orders where product = ?', [anyProduct()]),
];

/** What looks, and has to see the latest. */
export const currentReads: readonly Task[] = [
  // Read at once after a write: the replicas may not have it yet, so it is asked for on the primary.
  (db) => db('orders').max('id').modify(onPrimary).comment('read by hand on the primary'),
];

/** What looks for so long that it stays with one replica. */
export const longReads: readonly Task[] = [report, exportOrders];

/** What changes something, each in one statement. */
export const writes: readonly Task[] = [
  async (db) => {
    const reference = randomUUID();
    await db('orders').insert({ product: anyProduct(), quantity: 1, reference }).returning('id');
    return reference;
  },
  (db) => db('products').where({ id: anyProduct() }).increment('stock', 5),
  (db) => db('orders').whereNull('placed_at').delete(),
];

/** What changes several things, all or none. */
export const transactions: readonly Task[] = [placeOrder];

/** Takes a product from the stock and writes the order, both or neither. */
async function placeOrder(db: Knex): Promise<string> {
  const reference = randomUUID();
  await db.transaction(async (trx) => {
    const product = anyProduct();
    await trx('products').where({ id: product }).forUpdate().first('stock');
    await trx('products').where({ id: product }).decrement('stock', 1);
    await trx('orders').insert({ product, quantity: 1, reference });
    await trx('orders').where({ product }).count().comment('read');
  });
  return reference;
}

/** Adds up a consistent view of the whole shop, on one replica. */
function report(db: Knex): Promise<void> {
  return db.transaction(
    async (trx) => {
      await trx('orders').sum('quantity').comment('read');
      await trx('products').sum('stock').comment('read');
    },
    { readOnly: true, isolationLevel: 'repeatable read' },
  );
}

/** Streams rows that would not fit into memory. */
async function exportOrders(db: Knex): Promise<void> {
  const rows = db('orders').orderBy('id').limit(500).comment('read').stream({ highWaterMark: 100 });
  for await (const row of rows) void row;
}

function anyProduct(): number {
  return 1 + Math.floor(Math.random() * 50);
}

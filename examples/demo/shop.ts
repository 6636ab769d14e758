import type { Knex } from 'knex';
import { onPrimary } from 'knex-rwsplit';

/** Something that the shop does, over and over. */
export type Task = (db: Knex) => PromiseLike<unknown>;

/**
 * The everyday work of a shop, written as for one server.
 *
 * A comment in a statement tells what its author means it to be: that is how the summary, which
 * reads the servers' logs, knows what to expect.
 */
export const everyday: readonly Task[] = [
  (db) => db('products').where('stock', '>', 0).orderBy('id').limit(10).comment('read'),
  (db) => db('orders').where({ product: anyProduct() }).count().comment('read'),
  (db) => db('products').where({ id: anyProduct() }).first().comment('read'),
  (db) => db.raw('/* read */ select name, revenue(id) from products where id = ?', [anyProduct()]),
  (db) =>
    db.raw(`/* read */ select 'for update; insert into orders' as harmless, $$nextval('x')$$`),
  (db) => db.raw('explain /* read */ select * from orders where product = ?', [anyProduct()]),
  (db) => db('orders').insert({ product: anyProduct(), quantity: 1 }).returning('id'),
  (db) => db('products').where({ id: anyProduct() }).increment('stock', 5),
  (db) => db('orders').whereNull('placed_at').delete(),
  placeOrder,
  report,
  exportOrders,
  // Read at once after a write: the replicas may not have it yet, so it is asked for on the primary.
  (db) => db('orders').max('id').modify(onPrimary).comment('read by hand on the primary'),
];

/** Takes a product from the stock and writes the order, both or neither. */
function placeOrder(db: Knex): Promise<void> {
  return db.transaction(async (trx) => {
    const product = anyProduct();
    const found = await trx('products').where({ id: product }).forUpdate().first('stock');
    if (found === undefined) return;
    await trx('products').where({ id: product }).decrement('stock', 1);
    await trx('orders').insert({ product, quantity: 1 });
    await trx('orders').where({ product }).count().comment('read');
  });
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

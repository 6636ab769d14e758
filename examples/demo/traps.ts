import type { Task } from './shop.ts';

/**
 * Statements that look like reads, or like none, and yet belong to the primary: each sends a
 * splitter to a replica that goes by the first word or by the method of the builder.
 */
export const traps: readonly Task[] = [
  // Inserts in a WITH, by a builder and as raw text.
  (db) =>
    db
      .with('placed', db('orders').insert({ product: 1, quantity: 1 }).returning('id'))
      .select('id')
      .from('placed')
      .comment('trap'),
  (db) =>
    db.raw(
      `/* trap */ with sold as (update products set stock = stock - 1 where id = ? returning id) select * from sold`,
      [2],
    ),
  // Locks rows somewhere inside.
  (db) =>
    db('orders')
      .whereIn('product', db('products').select('id').where({ id: 3 }).forUpdate())
      .limit(1)
      .comment('trap'),
  // Functions that change something.
  (db) => db.select(db.raw(`nextval('invoice_numbers')`)).comment('trap'),
  (db) => db.select(db.raw('price_of(?)', [4])).comment('trap'),
  (db) => db('price_list').comment('trap'),
  (db) => db.raw(`/* trap */ select pg_notify('orders', 'placed')`),
  // A replica has no such rows, or answers about itself.
  (db) => db('carts').where({ id: 5 }).comment('trap'),
  (db) => db.raw(`/* trap */ select count(*) from pg_stat_activity`),
  // A replica would grant the lock, to everyone who asks another server.
  (db) => db.raw('/* trap */ select pg_try_advisory_xact_lock(7)'),
  async (db) => {
    await db.raw('/* trap */ select pg_try_advisory_lock(8)');
    await db.raw('/* trap */ select pg_advisory_unlock(8)');
  },
];

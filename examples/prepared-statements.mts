import knex, { type Knex } from 'knex';
import { RWSplitClient } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
const db = knex({
  client: RWSplitClient,
  connection: DATABASE_URL,
  pool: { min: 0, max: 1 }, // one connection to each host, to be looked into below
  rwSplit: { target: 'primary', prepare: { max: 100 } },
});

const booksOf = (author: string): Knex.QueryBuilder =>
  db('books')
    .join('authors', 'authors.id', 'books.author_id')
    .where('authors.name', author)
    .pluck('title');

// What a connection has by name, asked in a transaction, where nothing gets a name.
const prepared = async (): Promise<unknown> => {
  const text = 'select statement from pg_prepared_statements';
  const { rows } = await db.transaction((trx) => trx.raw(text));
  return rows.length;
};

await booksOf('Ursula K. Le Guin'); // seen once: most texts are never seen again
console.log(await prepared()); // → 0

await booksOf('Octavia E. Butler'); // seen again: parsed for the last time
console.log(await prepared()); // → 1
console.log(await booksOf('Ursula K. Le Guin')); // → [ 'The Dispossessed' ]

// A change of the schema is no matter.
await db.schema.alterTable('books', (table) => table.text('title').alter());
console.log(await booksOf('Ursula K. Le Guin')); // → [ 'The Dispossessed' ]

await db.destroy();

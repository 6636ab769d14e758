import { feathers } from '@feathersjs/feathers';
import { KnexService, transaction } from '@feathersjs/knex';
import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

interface Book {
  id: number;
  title: string;
}

const db = knex({ client: RWSplitClient, connection: process.env['DATABASE_URL'] ?? '' });

const roles: string[] = [];
rwSplit(db).on('route', ({ role }) => roles.push(role));
const show = (...what: unknown[]): void => console.log(...what, new Set(roles.splice(0)));

const app = feathers<{ books: KnexService<Book> }>();
app.use('books', new KnexService<Book>({ Model: db, name: 'books' }));
const books = app.service('books');

show(await books.find({ query: { $select: ['title'] } })); // → [ { title: 'The Dispossessed', id: 1 } ] Set(1) { 'replica' }

// It reads what it has written, which the session of the client makes sure of.
const made = await books.create({ title: 'Solaris' });
console.log(made.id, made.title); // → 2 Solaris

// With a transaction around the method, all of it is on the primary.
books.hooks({
  before: { patch: [transaction.start()] },
  after: { patch: [transaction.end()] },
  error: { patch: [transaction.rollback()] },
});
roles.length = 0;
const { title } = await books.patch(2, { title: 'Fiasco' });
show(title); // → Fiasco Set(1) { 'primary' }

await db.destroy();

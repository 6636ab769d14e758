import { createRequire } from 'node:module';
import knex, { type Knex } from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const db = knex({ client: RWSplitClient, connection: process.env['DATABASE_URL'] ?? '' });
// Its types are those of Knex 0.21; without them, everything is `any`.
const bookshelf = createRequire(import.meta.url)('bookshelf')(db);

const roles: string[] = [];
rwSplit(db).on('route', ({ role }) => roles.push(role));
const show = (...what: unknown[]): void => console.log(...what, new Set(roles.splice(0)));

const Book = bookshelf.model('Book', { tableName: 'books' });
const Author = bookshelf.model('Author', {
  tableName: 'authors',
  books(this: { hasMany(model: unknown, key: string): unknown }) {
    return this.hasMany(Book, 'author_id');
  },
});

const author = await Author.forge({ id: 1 }).fetch({ withRelated: ['books'] });
show(author.related('books').pluck('title')); // → [ 'The Dispossessed' ] Set(1) { 'replica' }

// What a model reads to write it belongs into one transaction: on the primary, all of it.
await bookshelf.transaction(async (transacting: Knex.Transaction) => {
  const locked = await Author.forge({ id: 1 }).fetch({ transacting, lock: 'forUpdate' });
  await locked.save({ name: 'Ursula' }, { transacting, patch: true });
});
show('saved'); // → saved Set(1) { 'primary' }

await Book.forge({ author_id: 1, title: 'Always Coming Home' }).save();
show('inserted'); // → inserted Set(1) { 'primary' }

console.log(await Book.count()); // → 2
await author.refresh();
console.log(author.get('name')); // → Ursula

await db.destroy();

import type { Knex } from 'knex';
import { authorOf, bookOf } from './shop.ts';
import type { Queries } from './subject.ts';

/** The queries by Knex: reads by one instance, which can be the one for the rest, too. */
export function knexQueries(write: Knex, read: Knex = write): Queries {
  return {
    read: async (number) => {
      const book = await read('books')
        .where({ id: bookOf(number) })
        .first();
      return book === undefined ? 0 : 1;
    },
    join: async (number) => {
      const rows = await read('books')
        .join('authors', 'authors.id', 'books.author_id')
        .join('publishers', 'publishers.id', 'books.publisher_id')
        .where({ author_id: authorOf(number) })
        .select(
          'books.id',
          'books.title',
          'books.year',
          'authors.name as author',
          'publishers.name as publisher',
        );
      return rows.length;
    },
    insert: async (number) => {
      const rows = await write('loans').insert({ book_id: bookOf(number), reader: 'Ada' }, 'id');
      return rows.length;
    },
    transaction: async (number) =>
      write.transaction(async (trx) => {
        const book = await trx('books')
          .where({ id: bookOf(number) })
          .first();
        const loans = await trx('loans').insert({ book_id: book.id, reader: 'Ada' }, 'id');
        const [{ id }] = loans;
        const updated = await trx('loans').where({ id }).update({ reader: 'Grace' });
        const loan = await trx('loans').where({ id }).first();
        const deleted = await trx('loans').where({ id: loan.id }).delete();
        return 1 + loans.length + updated + 1 + deleted;
      }),
    raw: async (number) => {
      const { rows } = await read.raw(
        'select title, year from books where author_id = ? order by year limit 5',
        [authorOf(number)],
      );
      return rows.length;
    },
    stream: async () => {
      let count = 0;
      for await (const _ of read('books').select('id', 'title').stream()) count++;
      return count;
    },
  };
}

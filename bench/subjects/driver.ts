import { Pool } from 'pg';
import QueryStream from 'pg-query-stream';
import { authorOf, bookOf } from './shop.ts';
import { connectionsEach, idleMillis, type Opened, type Subject } from './subject.ts';

const join = `select books.id, books.title, books.year, authors.name as author,
  publishers.name as publisher
from books
join authors on authors.id = books.author_id
join publishers on publishers.id = books.publisher_id
where author_id = $1`;

/** The driver alone, with one host: what all the others stand on. */
export const driver: Subject = {
  name: 'pg',
  hosts: 'one',
  open: async (cluster) =>
    openPool(
      new Pool({ ...cluster.connection(), max: connectionsEach, idleTimeoutMillis: idleMillis }),
    ),
};

function openPool(pool: Pool): Opened {
  const count = async (text: string, values: readonly unknown[]): Promise<number> =>
    (await pool.query(text, [...values])).rows.length;
  return {
    read: (number) => count('select * from books where id = $1', [bookOf(number)]),
    join: (number) => count(join, [authorOf(number)]),
    insert: (number) =>
      count('insert into loans (book_id, reader) values ($1, $2) returning id', [
        bookOf(number),
        'Ada',
      ]),
    transaction: (number) => transaction(pool, bookOf(number)),
    raw: (number) =>
      count('select title, year from books where author_id = $1 order by year limit 5', [
        authorOf(number),
      ]),
    stream: () => stream(pool),
    close: () => pool.end(),
  };
}

async function transaction(pool: Pool, bookId: number): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const books = await client.query('select * from books where id = $1', [bookId]);
    const loans = await client.query<{ id: number }>(
      'insert into loans (book_id, reader) values ($1, $2) returning id',
      [bookId, 'Ada'],
    );
    const id = loans.rows[0]?.id;
    const updated = await client.query('update loans set reader = $1 where id = $2', ['Grace', id]);
    const loan = await client.query('select * from loans where id = $1', [id]);
    const deleted = await client.query('delete from loans where id = $1', [id]);
    await client.query('commit');
    return [books, loans, updated, loan, deleted].reduce(
      (sum, { rowCount }) => sum + (rowCount ?? 0),
      0,
    );
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

async function stream(pool: Pool): Promise<number> {
  const client = await pool.connect();
  try {
    let count = 0;
    for await (const _ of client.query(new QueryStream('select id, title from books'))) count++;
    return count;
  } finally {
    client.release();
  }
}

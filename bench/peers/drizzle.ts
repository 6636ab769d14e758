import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text, withReplicas } from 'drizzle-orm/pg-core';
import { Pool } from 'pg';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { authorOf, bookOf } from '../subjects/shop.ts';
import { connectionsEach, idleMillis, type Subject } from '../subjects/subject.ts';

const authors = pgTable('authors', {
  id: integer().primaryKey().generatedByDefaultAsIdentity(),
  name: text().notNull(),
});

const publishers = pgTable('publishers', {
  id: integer().primaryKey().generatedByDefaultAsIdentity(),
  name: text().notNull(),
});

const books = pgTable('books', {
  id: integer().primaryKey().generatedByDefaultAsIdentity(),
  authorId: integer('author_id').notNull(),
  publisherId: integer('publisher_id').notNull(),
  title: text().notNull(),
  year: integer().notNull(),
});

const loans = pgTable('loans', {
  id: integer().primaryKey().generatedByDefaultAsIdentity(),
  bookId: integer('book_id').notNull(),
  reader: text().notNull(),
});

/** Drizzle with `withReplicas`. */
export const subject: Subject = {
  name: 'Drizzle',
  hosts: 'all',
  open: async (cluster) => {
    const pools = cluster.hosts.map((host) => poolOf(cluster, host));
    const [primary, first, ...others] = pools.map((client) => drizzle({ client }));
    if (primary === undefined || first === undefined) throw new Error('There is no replica.');
    const db = withReplicas(primary, [first, ...others]);
    return {
      read: async (number) => {
        const rows = await db
          .select()
          .from(books)
          .where(eq(books.id, bookOf(number)));
        return rows.length;
      },
      join: async (number) => {
        const rows = await db
          .select({
            id: books.id,
            title: books.title,
            year: books.year,
            author: authors.name,
            publisher: publishers.name,
          })
          .from(books)
          .innerJoin(authors, eq(authors.id, books.authorId))
          .innerJoin(publishers, eq(publishers.id, books.publisherId))
          .where(eq(books.authorId, authorOf(number)));
        return rows.length;
      },
      insert: async (number) => {
        const rows = await db
          .insert(loans)
          .values({ bookId: bookOf(number), reader: 'Ada' })
          .returning({ id: loans.id });
        return rows.length;
      },
      transaction: async (number) =>
        db.transaction(async (tx) => {
          const found = await tx
            .select()
            .from(books)
            .where(eq(books.id, bookOf(number)));
          const bookId = found[0]?.id ?? 0;
          const inserted = await tx
            .insert(loans)
            .values({ bookId, reader: 'Ada' })
            .returning({ id: loans.id });
          const id = inserted[0]?.id ?? 0;
          const updated = await tx.update(loans).set({ reader: 'Grace' }).where(eq(loans.id, id));
          const lent = await tx.select().from(loans).where(eq(loans.id, id));
          const deleted = await tx.delete(loans).where(eq(loans.id, id));
          return (
            found.length +
            inserted.length +
            (updated.rowCount ?? 0) +
            lent.length +
            (deleted.rowCount ?? 0)
          );
        }),
      raw: async (number) => {
        const { rows } = await db.execute(
          sql`select title, year from books where author_id = ${authorOf(number)} order by year limit 5`,
        );
        return rows.length;
      },
      stream: undefined,
      close: async () => Promise.all(pools.map((pool) => pool.end())),
    };
  },
};

function poolOf(cluster: Cluster, host: TestHost): Pool {
  return new Pool({
    ...cluster.connection(host),
    max: connectionsEach,
    idleTimeoutMillis: idleMillis,
  });
}

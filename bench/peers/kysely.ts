import { Kysely, PostgresDialect, sql, type Generated } from 'kysely';
import { KyselyReplicationDialect } from 'kysely-replication';
import { RoundRobinReplicaStrategy } from 'kysely-replication/strategy/round-robin';
import { Pool } from 'pg';
import Cursor from 'pg-cursor';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { authorOf, bookOf } from '../subjects/shop.ts';
import { connectionsEach, idleMillis, type Subject } from '../subjects/subject.ts';

interface Shop {
  authors: { id: Generated<number>; name: string };
  publishers: { id: Generated<number>; name: string };
  books: {
    id: Generated<number>;
    author_id: number;
    publisher_id: number;
    title: string;
    year: number;
  };
  loans: { id: Generated<number>; book_id: number; reader: string };
}

/** Kysely with kysely-replication. */
export const subject: Subject = {
  name: 'kysely-replication',
  hosts: 'all',
  open: async (cluster) => {
    const [first, ...others] = cluster.replicas.map((replica) => dialectOf(cluster, replica));
    if (first === undefined) throw new Error('There is no replica.');
    const db = new Kysely<Shop>({
      dialect: new KyselyReplicationDialect({
        primaryDialect: dialectOf(cluster, cluster.primary),
        replicaDialects: [first, ...others],
        replicaStrategy: new RoundRobinReplicaStrategy(),
      }),
    });
    return {
      read: async (number) => {
        const book = await db
          .selectFrom('books')
          .selectAll()
          .where('id', '=', bookOf(number))
          .executeTakeFirst();
        return book === undefined ? 0 : 1;
      },
      join: async (number) => {
        const rows = await db
          .selectFrom('books')
          .innerJoin('authors', 'authors.id', 'books.author_id')
          .innerJoin('publishers', 'publishers.id', 'books.publisher_id')
          .where('author_id', '=', authorOf(number))
          .select([
            'books.id',
            'books.title',
            'books.year',
            'authors.name as author',
            'publishers.name as publisher',
          ])
          .execute();
        return rows.length;
      },
      insert: async (number) => {
        const rows = await db
          .insertInto('loans')
          .values({ book_id: bookOf(number), reader: 'Ada' })
          .returning('id')
          .execute();
        return rows.length;
      },
      transaction: async (number) =>
        db.transaction().execute(async (trx) => {
          const book = await trx
            .selectFrom('books')
            .selectAll()
            .where('id', '=', bookOf(number))
            .executeTakeFirstOrThrow();
          const { id } = await trx
            .insertInto('loans')
            .values({ book_id: book.id, reader: 'Ada' })
            .returning('id')
            .executeTakeFirstOrThrow();
          const updated = await trx
            .updateTable('loans')
            .set({ reader: 'Grace' })
            .where('id', '=', id)
            .executeTakeFirst();
          const loan = await trx
            .selectFrom('loans')
            .selectAll()
            .where('id', '=', id)
            .executeTakeFirstOrThrow();
          const deleted = await trx
            .deleteFrom('loans')
            .where('id', '=', loan.id)
            .executeTakeFirst();
          return 3 + Number(updated.numUpdatedRows) + Number(deleted.numDeletedRows);
        }),
      raw: async (number) => {
        const { rows } =
          await sql`select title, year from books where author_id = ${authorOf(number)} order by year limit 5`.execute(
            db,
          );
        return rows.length;
      },
      stream: async () => {
        let count = 0;
        for await (const _ of db.selectFrom('books').select(['id', 'title']).stream(100)) count++;
        return count;
      },
      close: async () => db.destroy(),
    };
  },
};

function dialectOf(cluster: Cluster, host: TestHost): PostgresDialect {
  return new PostgresDialect({
    pool: new Pool({
      ...cluster.connection(host),
      max: connectionsEach,
      idleTimeoutMillis: idleMillis,
    }),
    cursor: Cursor,
  });
}

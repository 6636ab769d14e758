import { DataSource, EntitySchema } from 'typeorm';
import { authorOf, bookOf } from '../subjects/shop.ts';
import { connectionsEach, idleMillis, type Subject } from '../subjects/subject.ts';
import type { Book, Loan, Named } from './entities.ts';

const id = { type: Number, primary: true, generated: 'increment' } as const;

const Author = new EntitySchema<Named>({
  name: 'Author',
  tableName: 'authors',
  columns: { id, name: { type: 'text' } },
});

const Publisher = new EntitySchema<Named>({
  name: 'Publisher',
  tableName: 'publishers',
  columns: { id, name: { type: 'text' } },
});

const Books = new EntitySchema<Book>({
  name: 'Book',
  tableName: 'books',
  columns: { id, title: { type: 'text' }, year: { type: Number } },
  relations: {
    author: { type: 'many-to-one', target: 'Author', joinColumn: { name: 'author_id' } },
    publisher: { type: 'many-to-one', target: 'Publisher', joinColumn: { name: 'publisher_id' } },
  },
});

const Loans = new EntitySchema<Loan>({
  name: 'Loan',
  tableName: 'loans',
  columns: { id, bookId: { type: Number, name: 'book_id' }, reader: { type: 'text' } },
});

/** TypeORM with its replication. */
export const subject: Subject = {
  name: 'TypeORM',
  hosts: 'all',
  open: async (cluster) => {
    const source = new DataSource({
      type: 'postgres',
      replication: {
        master: withUsername(cluster.connection()),
        slaves: cluster.replicas.map((replica) => withUsername(cluster.connection(replica))),
      },
      extra: { max: connectionsEach, idleTimeoutMillis: idleMillis },
      entities: [Author, Publisher, Books, Loans],
    });
    await source.initialize();
    const books = source.getRepository(Books);
    const loans = source.getRepository(Loans);
    return {
      read: async (number) => ((await books.findOneBy({ id: bookOf(number) })) === null ? 0 : 1),
      join: async (number) => {
        const found = await books.find({
          where: { author: { id: authorOf(number) } },
          relations: { author: true, publisher: true },
        });
        return found.length;
      },
      insert: async (number) => {
        const { identifiers } = await loans.insert({ bookId: bookOf(number), reader: 'Ada' });
        return identifiers.length;
      },
      transaction: async (number) =>
        source.transaction(async (manager) => {
          const book = await manager.findOneByOrFail(Books, { id: bookOf(number) });
          const { identifiers } = await manager.insert(Loans, { bookId: book.id, reader: 'Ada' });
          const loanId = Number(identifiers[0]?.['id']);
          const updated = await manager.update(Loans, { id: loanId }, { reader: 'Grace' });
          const loan = await manager.findOneByOrFail(Loans, { id: loanId });
          const deleted = await manager.delete(Loans, { id: loan.id });
          return 2 + identifiers.length + (updated.affected ?? 0) + (deleted.affected ?? 0);
        }),
      raw: async (number) => {
        const rows: unknown[] = await source.query(
          'select title, year from books where author_id = $1 order by year limit 5',
          [authorOf(number)],
        );
        return rows.length;
      },
      stream: async () => {
        let count = 0;
        const query = books.createQueryBuilder('book').select(['book.id', 'book.title']);
        for await (const _ of await query.stream()) count++;
        return count;
      },
      close: async () => source.destroy(),
    };
  },
};

function withUsername<Connection extends { readonly user: string }>({
  user,
  ...rest
}: Connection): Omit<Connection, 'user'> & { readonly username: string } {
  return { ...rest, username: user };
}

import { EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { authorOf, bookOf } from '../subjects/shop.ts';
import { connectionsEach, idleMillis, type Subject } from '../subjects/subject.ts';
import type { Book, Loan, Named } from './entities.ts';

const id = { type: 'integer', primary: true } as const;

const Author = new EntitySchema<Named>({
  name: 'Author',
  tableName: 'authors',
  properties: { id, name: { type: 'text' } },
});

const Publisher = new EntitySchema<Named>({
  name: 'Publisher',
  tableName: 'publishers',
  properties: { id, name: { type: 'text' } },
});

const Books = new EntitySchema<Book>({
  name: 'Book',
  tableName: 'books',
  properties: {
    id,
    title: { type: 'text' },
    year: { type: 'integer' },
    author: { kind: 'm:1', entity: () => 'Author' },
    publisher: { kind: 'm:1', entity: () => 'Publisher' },
  },
});

const Loans = new EntitySchema<Loan>({
  name: 'Loan',
  tableName: 'loans',
  properties: { id, bookId: { type: 'integer' }, reader: { type: 'text' } },
});

/** MikroORM with its replicas; each request has an entity manager of its own, as it has to. */
export const subject: Subject = {
  name: 'MikroORM',
  hosts: 'all',
  open: async (cluster) => {
    const { host, port, user, password, database } = cluster.connection();
    const orm = await MikroORM.init({
      dbName: database,
      host,
      port,
      user,
      password,
      replicas: cluster.replicas.map((replica) => ({ host: replica.host, port: replica.port })),
      pool: { min: 0, max: connectionsEach, idleTimeoutMillis: idleMillis },
      entities: [Author, Publisher, Books, Loans],
    });
    return {
      read: async (number) => {
        const book = await orm.em.fork().findOne(Books, bookOf(number));
        return book === null ? 0 : 1;
      },
      join: async (number) => {
        const found = await orm.em
          .fork()
          .find(
            Books,
            { author: authorOf(number) },
            { populate: ['author', 'publisher'], strategy: 'joined' },
          );
        return found.length;
      },
      insert: async (number) => {
        const em = orm.em.fork();
        const loan = em.create(Loans, { bookId: bookOf(number), reader: 'Ada' });
        await em.flush();
        return loan.id > 0 ? 1 : 0;
      },
      transaction: async (number) =>
        orm.em.fork().transactional(async (em) => {
          const book = await em.findOneOrFail(Books, bookOf(number));
          const loan = em.create(Loans, { bookId: book.id, reader: 'Ada' });
          await em.flush();
          loan.reader = 'Grace';
          await em.flush();
          await em.refresh(loan);
          em.remove(loan);
          await em.flush();
          return 5;
        }),
      raw: async (number) => {
        const rows: unknown[] = await orm.em
          .fork()
          .execute('select title, year from books where author_id = ? order by year limit 5', [
            authorOf(number),
          ]);
        return rows.length;
      },
      stream: undefined,
      close: async () => orm.close(),
    };
  },
};

import { DataTypes, QueryTypes, Sequelize, type ModelStatic, type Model } from 'sequelize';
import { authorOf, bookOf } from '../subjects/shop.ts';
import { connectionsEach, idleMillis, type Subject } from '../subjects/subject.ts';

interface Loan extends Model {
  readonly id: number;
}

/** Sequelize with its replication. */
export const subject: Subject = {
  name: 'Sequelize',
  hosts: 'all',
  open: async (cluster) => {
    const { database } = cluster;
    const sequelize = new Sequelize(database, '', '', {
      dialect: 'postgres',
      logging: false,
      replication: {
        write: withUsername(cluster.connection()),
        read: cluster.replicas.map((replica) => withUsername(cluster.connection(replica))),
      },
      // One pool for all replicas.
      pool: { max: connectionsEach * cluster.replicas.length, idle: idleMillis },
      define: { timestamps: false, underscored: true },
    });
    const name = { type: DataTypes.TEXT };
    const Author = sequelize.define('author', { name });
    const Publisher = sequelize.define('publisher', { name });
    const Book = sequelize.define('book', { title: DataTypes.TEXT, year: DataTypes.INTEGER });
    Book.belongsTo(Author);
    Book.belongsTo(Publisher);
    const Loans: ModelStatic<Loan> = sequelize.define('loan', {
      bookId: DataTypes.INTEGER,
      reader: DataTypes.TEXT,
    });
    return {
      read: async (number) => ((await Book.findByPk(bookOf(number))) === null ? 0 : 1),
      join: async (number) => {
        const found = await Book.findAll({
          where: { authorId: authorOf(number) },
          include: [Author, Publisher],
        });
        return found.length;
      },
      insert: async (number) => {
        const loan = await Loans.create({ bookId: bookOf(number), reader: 'Ada' });
        return loan.id > 0 ? 1 : 0;
      },
      transaction: async (number) =>
        sequelize.transaction(async (transaction) => {
          const book = await Book.findByPk(bookOf(number), { transaction, rejectOnEmpty: true });
          const bookId = book.get('id');
          const { id } = await Loans.create({ bookId, reader: 'Ada' }, { transaction });
          const [updated] = await Loans.update({ reader: 'Grace' }, { where: { id }, transaction });
          const loan = await Loans.findByPk(id, { transaction, rejectOnEmpty: true });
          const deleted = await Loans.destroy({ where: { id: loan.id }, transaction });
          return 3 + updated + deleted;
        }),
      raw: async (number) => {
        const rows = await sequelize.query(
          'select title, year from books where author_id = $1 order by year limit 5',
          { bind: [authorOf(number)], type: QueryTypes.SELECT },
        );
        return rows.length;
      },
      stream: undefined,
      close: async () => sequelize.close(),
    };
  },
};

function withUsername<Connection extends { readonly user: string; readonly port: number }>({
  user,
  port,
  ...rest
}: Connection): Omit<Connection, 'user' | 'port'> & {
  readonly username: string;
  readonly port: string;
} {
  return { ...rest, username: user, port: String(port) };
}

import knex from 'knex';
import { onPrimary, RWSplitClient, rwSplit } from 'knex-rwsplit';
import { Model, transaction } from 'objection';

class Book extends Model {
  static override tableName = 'books';
  declare title: string;
}

class Author extends Model {
  static override tableName = 'authors';
  static override relationMappings = {
    books: {
      relation: Model.HasManyRelation,
      modelClass: Book,
      join: { from: 'authors.id', to: 'books.author_id' },
    },
  };
  declare id: number;
  declare name: string;
  declare books: Book[];
}

const db = knex({ client: RWSplitClient, connection: process.env['DATABASE_URL'] ?? '' });
Model.knex(db);

const roles: string[] = [];
rwSplit(db).on('route', ({ role }) => roles.push(role));
const show = (...what: unknown[]): void => console.log(...what, new Set(roles.splice(0)));

const titles = (author?: Author): string[] => author?.books.map(({ title }) => title) ?? [];

const author = await Author.query().findOne({ id: 1 }).withGraphFetched('books');
show(titles(author)); // → [ 'The Dispossessed' ] Set(1) { 'replica' }

// A graph is several statements, reads among them: in a transaction they are one, on the primary.
await Author.transaction(async (trx) =>
  Author.query(trx).upsertGraph(
    { id: 1, books: [...(author?.books ?? []), { title: 'The Lathe of Heaven' }] } as object,
    { relate: false },
  ),
);
show('upserted'); // → upserted Set(1) { 'primary' }

await transaction(Author, async (BoundAuthor) => BoundAuthor.query().insert({ name: 'Ted' }));
show('inserted'); // → inserted Set(1) { 'primary' }

// Without a hint a replica may serve this, once it has what was written.
const upserted = await Author.query()
  .findById(1)
  .withGraphFetched('books(byTitle)')
  .modifiers({ byTitle: (books) => void books.orderBy('title') });
console.log(titles(upserted)); // → [ 'The Dispossessed', 'The Lathe of Heaven' ]

// A hint is for one query. A graph is several, as is a page with its count: those take the scope.
roles.length = 0;
await Author.query().findById(1).modify(onPrimary);
show('found'); // → found Set(1) { 'primary' }
await rwSplit(db).onPrimary(async () => Author.query().findById(1).withGraphFetched('books'));
show('fetched'); // → fetched Set(1) { 'primary' }

// Models of one tenant, or of one test: classes of their own on another Knex instance.
const reports = knex({
  client: RWSplitClient,
  connection: process.env['DATABASE_URL'] ?? '',
  rwSplit: { target: 'replica' },
});
rwSplit(reports).on('route', ({ role }) => roles.push(role));
roles.length = 0;
await Author.bindKnex(reports).query().resultSize();
show('counted'); // → counted Set(1) { 'replica' }

await Promise.all([db.destroy(), reports.destroy()]);

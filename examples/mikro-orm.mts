import {
  EntitySchema,
  knex,
  MikroORM,
  type Opt,
  PostgreSqlKnexDialect,
} from '@mikro-orm/postgresql';
import { createRWSplitClient, rwSplit } from 'knex-rwsplit';

interface Author {
  id: Opt<number>;
  name: string;
}

const author = new EntitySchema<Author>({
  name: 'Author',
  tableName: 'authors',
  properties: {
    id: { type: 'number', primary: true, autoincrement: true },
    name: { type: 'string' },
  },
});

// MikroORM brings a copy of Knex, and a dialect of its own: the client is made of both.
const client = createRWSplitClient(knex, PostgreSqlKnexDialect);
const { PRIMARY_URL = '', REPLICA_URLS = '' } = process.env;

const orm = await MikroORM.init({
  clientUrl: PRIMARY_URL,
  entities: [author],
  driverOptions: { client, rwSplit: { replicas: REPLICA_URLS.split(',') } },
});

const roles: string[] = [];
orm.em
  .getKnex()
  .on('query', ({ rwSplit }: { rwSplit?: { role: string } }) => roles.push(String(rwSplit?.role)));
const show = (...what: unknown[]): void => console.log(...what, new Set(roles.splice(0)));

const em = orm.em.fork();
const ursula = await em.findOneOrFail(author, { id: 1 });
show(ursula.name); // → Ursula K. Le Guin Set(1) { 'replica' }

em.create(author, { name: 'Stanisław Lem' });
ursula.name = 'Ursula';
await em.flush();
show('flushed'); // → flushed Set(1) { 'primary' }

const names = await em.fork().findAll(author, { orderBy: { name: 'asc' } });
console.log(names.map(({ name }) => name)); // → [ 'Stanisław Lem', 'Ursula' ]

roles.length = 0;
await em.transactional(async (inner) => inner.count(author));
show('counted'); // → counted Set(1) { 'primary' }

// Its queries take no hints; the scope reaches whatever runs in it.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each copy of Knex has types of its own
const split = rwSplit(orm.em.getKnex() as never);
await split.onPrimary(async () => em.fork().count(author));
show('counted'); // → counted Set(1) { 'primary' }

await orm.close();

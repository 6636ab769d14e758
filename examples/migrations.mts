import knex, { type Knex } from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;

// In a knexfile: `export default config`. The Knex CLI runs with it as it is.
const config: Knex.Config = {
  client: RWSplitClient,
  connection: DATABASE_URL,
  migrations: {
    migrationSource: {
      getMigrations: async () => ['create_customers'],
      getMigrationName: (name: string) => name,
      getMigration: async () => ({
        up: (trx) => trx.schema.createTable('customers', (table) => void table.increments()),
        down: (trx) => trx.schema.dropTable('customers'),
      }),
    },
  },
};

const db = knex(config);
const used = new Set<string>();
rwSplit(db).on('route', ({ role }) => used.add(role));

const [batch, names] = await db.migrate.latest();
console.log(batch, names, [...used]); // → 1 [ 'create_customers' ] [ 'primary' ]

await db.destroy();

import knex, { type Knex } from 'knex';
import { ConfigError, RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '' } = process.env;
const shared = {
  client: RWSplitClient,
  connection: DATABASE_URL,
  pool: { min: 0, max: 10 }, // of each host, for all of them together
};

const web = knex({ ...shared, rwSplit: { pools: 'shop' } });
const reports = knex({
  ...shared,
  rwSplit: { pools: 'shop', target: 'replica', consistency: 'eventual' },
});

// Each goes its own way, over the same connections.
rwSplit(web).on('route', ({ role }) => console.log(`web: ${role}`));
rwSplit(reports).on('route', ({ role }) => console.log(`reports: ${role}`));
await web('orders').insert({ item: 'tea' }); // → web: primary
await reports('orders').select('item'); // → reports: replica

// Whose settings differ can't have a part in them.
const other: Knex.Config = { ...shared, pool: { min: 0, max: 50 }, rwSplit: { pools: 'shop' } };
try {
  knex(other);
} catch (error) {
  if (error instanceof ConfigError) console.log(error.path); // → pool.max
}

await web.destroy(); // `reports` goes on
await reports('orders').select('item'); // → reports: replica
await reports.destroy(); // the last one closes the pools

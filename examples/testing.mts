import knex from 'knex';
import { RWSplitClient } from 'knex-rwsplit';
import { startCluster } from 'knex-rwsplit/testing';

const cluster = await startCluster({ replicas: 1 });
const db = knex({ client: RWSplitClient, connection: cluster.url });

await db.schema.dropTableIfExists('letters');
await db.schema.createTable('letters', (table) => void table.text('text'));
await cluster.waitForReplay();

// Replicas that are behind: what those of production are on a bad day.
for (const replica of cluster.replicas) await replica.pauseReplay();
await db('letters').insert({ text: 'hello' });
console.log(await db('letters').pluck('text')); // → [ 'hello' ]

// What a read sees that has nothing to wait for, as one of another session.
const eventual = { rwSplit: { consistency: 'eventual' } };
console.log(await db('letters').pluck('text').queryContext(eventual)); // → []

for (const replica of cluster.replicas) await replica.resumeReplay();
await cluster.waitForReplay();
console.log(await db('letters').pluck('text').queryContext(eventual)); // → [ 'hello' ]

await db.schema.dropTable('letters');
await db.destroy();
await cluster.stop();

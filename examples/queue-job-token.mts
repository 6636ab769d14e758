import knex from 'knex';
import { RWSplitClient, rwSplit } from 'knex-rwsplit';

const { DATABASE_URL = '', TOKEN_SECRET = 'a long random string' } = process.env;
const config = {
  client: RWSplitClient,
  connection: DATABASE_URL,
  rwSplit: { consistency: { token: { secret: TOKEN_SECRET } } },
};
const web = knex(config);
const worker = knex(config); // in another process, on another machine
const queue: string[] = [];

// A request writes, and leaves the rest to a job. Its token is text: how far this session has written.
await rwSplit(web).session({}, async () => {
  const [order] = await web('orders').insert({ item: 'milk' }).returning('id');
  queue.push(JSON.stringify({ order, after: rwSplit(web).token() }));
});

// The worker is faster than replication, and reads the order all the same.
for (const job of queue) {
  const { order, after } = JSON.parse(job);

  // A job that waited for longer than tokens are believed is older than what replicas lag: 'ignore'.
  await rwSplit(worker).session({ after, invalidToken: 'ignore' }, async () => {
    console.log(await worker('orders').where(order).pluck('item')); // → [ 'milk' ]
  });
}

await Promise.all([web.destroy(), worker.destroy()]);

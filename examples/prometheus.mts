import { createServer } from 'node:http';
import knex from 'knex';
import { RWSplitClient } from 'knex-rwsplit';
import { registerMetrics } from 'knex-rwsplit/prometheus';
import { register } from 'prom-client';

const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
registerMetrics(db); // options: registry, prefix, durationBuckets

const server = createServer((_request, response) => {
  response.setHeader('content-type', register.contentType);
  void register.metrics().then((text) => response.end(text));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

await db('orders').insert({ item: 'tea' });

const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;
const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
for (const line of metrics.split('\n')) {
  if (/^rwsplit_(host_up|query_duration_seconds_count|statements).*primary/.test(line)) {
    console.log(line.replace(/host="[^"]*"/, 'host="…"'));
  }
}
// → rwsplit_host_up{host="…",role="primary"} 1
// → rwsplit_query_duration_seconds_count{host="…",role="primary",outcome="ok"} 1

server.close();
await db.destroy();

import knex from 'knex';
import { type BalancerFactory, RWSplitClient, rwSplit } from 'knex-rwsplit';

const { PRIMARY_URL = '', REPLICA_URLS = '' } = process.env;
const [near, far] = REPLICA_URLS.split(',');

/** Prefers the hosts whose name begins with a zone. */
const inZone =
  (zone: string): BalancerFactory =>
  () => ({ pick: (hosts) => hosts.find(({ name }) => name.startsWith(zone)) ?? hosts[0] });

const db = knex({
  client: RWSplitClient,
  connection: PRIMARY_URL,
  rwSplit: {
    replicas: [
      { name: 'west-1', connectionString: far },
      { name: 'east-1', connectionString: near },
    ],
    balancer: inZone('east'),
  },
});
rwSplit(db).on('route', ({ host }) => console.log(host));

await db('orders'); // → east-1
await db('orders'); // → east-1

await db.destroy();

import knex from 'knex';
import { RWSplitClient, rwSplit, type RWSplitOptions } from 'knex-rwsplit';

const { PRIMARY_URL = '', REPLICA_URLS = '' } = process.env;
const [url, other = ''] = REPLICA_URLS.split(',');

// Every option with its default.
const options: RWSplitOptions = {
  replicas: [
    // An object inherits from `connection` what it leaves out: usually `host` is enough.
    {
      connectionString: url,
      name: 'replica-1', // by default host:port; in errors, events and hints
      weight: 1, // share of the reads; 0: only when no other replica can serve
      tags: [], // for queryContext({ rwSplit: { tag } })
      pool: {}, // over Knex's `pool`; each host has a pool of its own
    },
    other, // a URL
    // Or a function that answers with either; or, for all replicas, an async function.
  ],
  target: 'split', // 'primary', 'replica', 'prefer-replica', 'any' (role of a host does not count)
  balancer: 'round-robin', // 'shuffle', 'priority', 'least-connections', 'least-latency', 'in-order',
  //                          { name: 'priority', first: n }, or a function that makes a balancer
  primaryReads: false, // true or a weight: the primary serves reads, too
  fallback: 'primary', // 'error': a read that finds no replica fails with RWSPLIT_NO_HOST
  fallbackShare: 0.5, // of the primary's pool, at most, for such reads
  functions: {
    read: [], // names that only read, whatever the catalog says: 'f' or 'shop.f'
    write: [], // names that write or need the primary
    unknown: 'primary', // 'replica' trusts what nothing is known of
  },
  maxLag: { millis: 60_000 }, // a replica further behind does not serve: { millis?, bytes? }, false
  consistency: {
    mode: 'session', // 'eventual', 'strong'; each is a short form of the whole object, too
    waitMillis: 0, // how long a read waits for a replica to catch up before it goes to the primary
    monotonic: false, // true: no read sees an older state than the one before it
    token: { maxAgeMillis: 3_600_000 }, // secret: signs tokens; a list: the first signs, all count
  },
  health: {
    intervalMillis: 5000, // between probes of a host that is up
    timeoutMillis: 1000, // of a probe
    fall: 3, // failed probes that make a host down
    rise: 2, // good ones that bring it back
    backoffMaxMillis: 60_000, // between probes of a host that stays down
    slowStartMillis: 10_000, // until one that came back has its full share
    hangMillis: 10_000, // until queries of a silent host are given up
  },
  failover: { waitMillis: 10_000 }, // how long a write waits for a primary
  discovery: { intervalMillis: 30_000 }, // between calls of `replicas` as a function
  state: {}, // searchPath, role, settings of every session
  pools: undefined, // 'name' or PoolRegistry: shares the pools of the hosts with other clients
  maxPerServer: undefined, // the most connections of all clients to one server
  prepare: false, // { max }: named prepared statements, so many on each connection
  pooler: undefined, // 'session': a pooler keeps a server connection for each of ours
};

const db = knex({ client: RWSplitClient, connection: PRIMARY_URL, rwSplit: options });
console.log((await rwSplit(db).explain(db('orders').insert({ item: 'tea' }))).reason); // → is an insert
await db.destroy();

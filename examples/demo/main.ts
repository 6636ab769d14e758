import { setTimeout as delay } from 'node:timers/promises';
import knex from 'knex';
import { RWSplitClient } from 'knex-rwsplit';
import { type Cluster, startCluster } from 'knex-rwsplit/testing';
import { Books } from './books.ts';
import { serveCustomers, tasks } from './customers.ts';
import { Display } from './display.ts';
import { disturb } from './incidents.ts';
import { listen } from './listen.ts';
import { lostOrders } from './lost-orders.ts';
import { openShop } from './opening.ts';
import { judgeOutcomes } from './outcome-verdicts.ts';
import { createShop } from './schema.ts';
import { logSettings } from './server-log.ts';
import { drawTable } from './table.ts';
import { Timeline } from './timeline.ts';
import { judgeHosts } from './verdicts.ts';
import { Witnesses } from './witnesses.ts';

const application = 'shop';
const seconds = Number(process.env['DEMO_SECONDS'] ?? 12);

async function main(): Promise<void> {
  // Servers that run already wouldn't log what the demo reads.
  delete process.env['RWSPLIT_CLUSTER_URL'];
  console.log('Starting a PostgreSQL primary and two streaming replicas …');
  const cluster = await startCluster({ settings: logSettings });
  try {
    await createShop(cluster);
    process.exitCode = (await run(cluster)) ? 0 : 1;
  } finally {
    await cluster.stop();
  }
}

/** Runs the shop, and says whether all went as it has to. */
async function run(cluster: Cluster): Promise<boolean> {
  const display = new Display(process.stdout);
  const say = (message: unknown): void =>
    display.print(`            Knex says: ${String(message)}`);
  const db = knex({
    log: { warn: say, error: say },
    client: RWSplitClient,
    connection: { ...cluster.connection(), application_name: application },
    pool: { min: 0, max: 10 },
    rwSplit: {
      // What is shown is where statements go by what they do; a session would keep reads on the
      // primary that come right after its writes.
      consistency: 'eventual',
      replicas: cluster.replicas.map(({ name, host, port }) => ({ name, host, port })),
      // The demo is short, so its hosts are looked at more often than by default.
      health: { intervalMillis: 500, backoffMaxMillis: 1000, slowStartMillis: 1000 },
    },
  });
  const witnesses = new Witnesses(cluster, application);
  const { tallies } = witnesses;
  await openShop(db, tasks);
  await witnesses.begin();

  console.log(`The shop is open for ${seconds} s, and not all of its servers are.\n`);
  const timeline = new Timeline((line) => display.print(line));
  const heard = listen(db, timeline, cluster.hosts, tallies);
  const books = new Books();
  const disturbed = disturb(cluster, db, timeline, seconds);
  const closed = serveCustomers(db, books, disturbed).then(() => 'closed');
  do {
    await witnesses.read();
    display.show(tallies, timeline.time);
  } while ((await Promise.race([closed, delay(1000)])) === undefined);
  const incidents = await disturbed;
  await db.destroy();
  await witnesses.readAll();

  const { replica, failover } = incidents;
  const killed = [replica.host, failover.outage.host];
  const counted = await witnesses.counted(cluster.hosts.filter((host) => !killed.includes(host)));
  const lost = await lostOrders(failover.promoted, books.orders);
  console.log(
    `\nStatements by host and kind (promoted: ${failover.promoted.name} as the primary):\n`,
  );
  console.log(`${drawTable(tallies)}\n`);
  const verdicts = [
    ...judgeHosts(tallies, heard, counted),
    ...judgeOutcomes(books, heard, incidents, lost),
  ];
  for (const { count, says, holds } of verdicts) {
    console.log(`  ${holds === undefined ? '    ' : holds ? 'ok  ' : 'NOT '}  ${count} ${says}`);
  }
  return verdicts.every(({ holds }) => holds !== false);
}

void main();

import { setTimeout as delay } from 'node:timers/promises';
import knex from 'knex';
import { RWSplitClient } from 'knex-rwsplit';
import { type Cluster, startCluster } from 'knex-rwsplit/testing';
import { serveCustomers } from './customers.ts';
import { Display } from './display.ts';
import { openShop } from './opening.ts';
import { createShop } from './schema.ts';
import { logSettings, ServerLog } from './server-log.ts';
import { everyday } from './shop.ts';
import { countedStatements, resetStatistics } from './statistics.ts';
import { drawTable } from './table.ts';
import { Tally } from './tally.ts';
import { traps } from './traps.ts';
import { judge } from './verdicts.ts';

const application = 'shop';
const seconds = Number(process.env['DEMO_SECONDS'] ?? 15);

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

/** Runs the shop, and says whether every statement went where it belongs. */
async function run(cluster: Cluster): Promise<boolean> {
  const db = knex({
    client: RWSplitClient,
    connection: { ...cluster.connection(), application_name: application },
    pool: { min: 0, max: 10 },
    rwSplit: {
      replicas: cluster.replicas.map(({ name, host, port }) => ({ name, host, port })),
    },
  });
  const tallies = new Map(cluster.hosts.map(({ name }) => [name, new Tally()]));
  const logs = cluster.hosts.map((host) => new ServerLog(host, application));

  await openShop(db, [...everyday, ...traps]);
  for (const log of logs) tallies.get(log.host.name)?.addErrors(await log.readAll());
  const witnesses = cluster.hasStatementStatistics ? cluster.hosts : [];
  await Promise.all(witnesses.map(resetStatistics));

  console.log(`The shop is open for ${seconds} s. What the servers' own logs say:\n`);
  const display = new Display(process.stdout);
  const closed = serveCustomers(db, Date.now() + seconds * 1000).then(() => 'closed');
  do {
    for (const log of logs) tallies.get(log.host.name)?.add(await log.read());
    display.show(tallies);
  } while ((await Promise.race([closed, delay(1000)])) === undefined);
  await db.destroy();
  for (const log of logs) tallies.get(log.host.name)?.add(await log.readAll());

  console.log(`\nStatements by host and kind:\n\n${drawTable(tallies)}\n`);
  const counted = await Promise.all(witnesses.map(countedStatements));
  const verdicts = judge(tallies, counted);
  for (const { count, says, holds } of verdicts)
    console.log(`  ${holds ? 'ok  ' : 'NOT '}  ${count} ${says}`);
  return verdicts.every(({ holds }) => holds);
}

void main();

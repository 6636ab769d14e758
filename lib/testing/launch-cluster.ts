import { Client } from 'pg';
import { Cluster } from './cluster.ts';
import {
  type ClusterOptions,
  type ClusterSettings,
  parseClusterOptions,
} from './cluster-options.ts';
import { type ClusterSite, createClusterSite } from './cluster-site.ts';
import { copyFreshData, initializeData } from './data-folder.ts';
import { PortReservation } from './port-reservation.ts';
import { commitSynchronously } from './replication.ts';
import { serverSettings } from './server-settings.ts';
import { Server } from './server.ts';
import type { HostConnection } from './host-connection.ts';
import { runStatement } from './session.ts';

/** Starts a cluster of its own on free ports of the loopback address. */
export async function launchCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const settings = parseClusterOptions(options);
  const site = await createClusterSite(settings.user);
  try {
    return await launchAt(site, settings);
  } catch (error) {
    await site.watchdog.finish();
    throw error;
  }
}

async function launchAt(site: ClusterSite, settings: ClusterSettings): Promise<Cluster> {
  const reservation = await PortReservation.make(settings.replicas + 1);
  const servers = reservation.ports.map(
    (port, index) => new Server(site, index === 0 ? 'primary' : `replica-${index}`, port),
  );
  try {
    await makeData(servers, serverSettings(settings, site.programs.haveStatementStatistics));
  } finally {
    await reservation.release();
  }
  await Promise.all(servers.map((server) => server.start()));

  const { user, password } = site;
  const hasStatementStatistics = await createDatabase(
    { host: '127.0.0.1', port: reservation.ports[0] ?? 0, user, password, database: 'template1' },
    settings.database,
  );
  const cluster = new Cluster({
    user,
    password,
    database: settings.database,
    hasStatementStatistics,
    addresses: servers.map((server) => ({ host: '127.0.0.1', port: server.port, server })),
    stop: () => site.watchdog.finish(),
  });
  await cluster.waitForReplay();
  if (settings.synchronous && settings.replicas > 0) {
    await commitSynchronously(cluster.primary, cluster.replicas);
  }
  return cluster;
}

async function makeData(
  [primary, ...replicas]: readonly Server[],
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  if (primary === undefined) return;

  await initializeData(primary, settings);
  await Promise.all(replicas.map((replica) => copyFreshData(primary, replica)));
}

/** Makes the database, and says whether statements are counted in it. */
async function createDatabase(template: HostConnection, database: string): Promise<boolean> {
  const [loaded] = await runStatement(
    template,
    `select from pg_available_extensions where name = 'pg_stat_statements'
      and current_setting('shared_preload_libraries') like '%pg_stat_statements%'`,
  );
  const postgres = { ...template, database: 'postgres' };
  if (loaded !== undefined) {
    await runStatement(template, 'create extension pg_stat_statements');
    await runStatement(postgres, 'create extension pg_stat_statements');
  }
  if (database !== postgres.database) {
    await runStatement(postgres, `create database ${Client.prototype.escapeIdentifier(database)}`);
  }
  return loaded !== undefined;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import type { Cluster } from '../../lib/testing/index.ts';
import { PortReservation } from '../../lib/testing/port-reservation.ts';
import { serverAccount } from '../../lib/testing/server-account.ts';
import { until } from '../../lib/testing/until.ts';
import { connectionsEach } from './subject.ts';

const startMillis = 15_000;

/** Where pgpool-II is installed; undefined where it isn't. */
export const pgpoolProgram: string | undefined = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  '/usr/sbin',
]
  .map((folder) => join(folder, 'pgpool'))
  .find((path) => existsSync(path));

/** A pgpool-II that runs. */
export interface Pgpool {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Starts pgpool-II in front of a cluster: reads go to the replicas, statement by statement. */
export async function startPgpool(cluster: Cluster): Promise<Pgpool> {
  const folder = mkdtempSync(join(tmpdir(), 'pgpool-'));
  // It runs as another user, who has to reach this.
  chmodSync(folder, 0o777);
  const reservation = await PortReservation.make(2);
  await reservation.release();
  const [port = 0, controlPort = 0] = reservation.ports;
  writeFileSync(join(folder, 'pcp.conf'), '');
  writeFileSync(join(folder, 'passwords'), `${cluster.user}:TEXT${cluster.password}\n`);
  writeFileSync(join(folder, 'pgpool.conf'), configure(cluster, folder, port, controlPort));

  const child = spawn(
    pgpoolProgram ?? 'pgpool',
    ['-n', '-f', join(folder, 'pgpool.conf'), '-F', join(folder, 'pcp.conf')],
    { ...serverAccount(), cwd: folder, stdio: 'ignore' },
  );
  child.unref();
  // Whatever becomes of the benchmark.
  process.once('exit', () => child.kill('SIGINT'));
  const stop = async (): Promise<void> => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until('pgpool-II answers', startMillis, () => answers(cluster, port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

function configure(cluster: Cluster, folder: string, port: number, controlPort: number): string {
  const settings = {
    backend_clustering_mode: 'streaming_replication',
    load_balance_mode: 'on',
    statement_level_load_balance: 'on',
    listen_addresses: '127.0.0.1',
    port,
    socket_dir: folder,
    pcp_listen_addresses: '127.0.0.1',
    pcp_port: controlPort,
    pcp_socket_dir: folder,
    pid_file_name: join(folder, 'pgpool.pid'),
    work_dir: folder,
    logdir: folder,
    pool_passwd: join(folder, 'passwords'),
    sr_check_user: cluster.user,
    sr_check_database: cluster.database,
    num_init_children: connectionsEach * 4,
    max_pool: 1,
    // Servers stay; what looks like an error of one is a connection that was closed.
    failover_on_backend_error: 'off',
  };
  const backends = cluster.hosts.flatMap((host, index) => [
    `backend_hostname${index} = '${host.host}'`,
    `backend_port${index} = ${host.port}`,
    `backend_weight${index} = ${host === cluster.primary ? 0 : 1}`,
  ]);
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  return [...lines, ...backends, ''].join('\n');
}

async function answers(cluster: Cluster, port: number): Promise<boolean> {
  const client = new Client({ ...cluster.connection(), port });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.ref();
  const exit = once(child, 'exit');
  // Fast: it does not wait until its clients have gone.
  if (child.kill('SIGINT')) await exit;
}

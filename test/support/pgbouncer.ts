import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { PortReservation } from '../../lib/testing/port-reservation.ts';
import { serverAccount } from '../../lib/testing/server-account.ts';
import { until } from '../../lib/testing/until.ts';
import type { Address } from './chaos-link.ts';

/** Where PgBouncer is installed; undefined where it isn't. */
export const pgBouncer: string | undefined = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  '/usr/sbin',
]
  .map((folder) => join(folder, 'pgbouncer'))
  .find(isExecutable);

/** How long one of its clients has a server connection for itself. */
export type PoolMode = 'transaction' | 'session';

// Few enough for clients to share them, and enough for each to have one.
const poolSizes: Record<PoolMode, number> = { transaction: 2, session: 40 };

const startMillis = 5000;

/** Puts a PgBouncer in front of each host for the tests of a file; says where it is. */
export function usePgBouncers(
  cluster: () => Cluster,
  mode: PoolMode,
): (host: string) => Address | undefined {
  const started = new Map<string, { readonly port: number; readonly process: ChildProcess }>();
  let folder = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
    // It refuses to run as root, and its user has to read this.
    chmodSync(folder, 0o755);
    const reservation = await PortReservation.make(cluster().hosts.length);
    await reservation.release();
    for (const [index, host] of cluster().hosts.entries()) {
      const port = reservation.ports[index] ?? 0;
      started.set(host.name, { port, process: await start(folder, host, port, mode) });
    }
  });
  afterAll(async () => {
    for (const { process } of started.values()) {
      const exit = once(process, 'exit');
      if (process.exitCode === null && process.kill('SIGTERM')) await exit;
    }
    if (folder !== '') rmSync(folder, { recursive: true });
  });

  return (host) => {
    const port = started.get(host)?.port;
    return port === undefined ? undefined : { host: '127.0.0.1', port };
  };
}

async function start(
  folder: string,
  { name, connection }: TestHost,
  port: number,
  mode: PoolMode,
): Promise<ChildProcess> {
  const users = join(folder, 'users.txt');
  const config = join(folder, `${name}.ini`);
  writeFileSync(users, `"${connection.user}" "${connection.password}"\n`);
  writeFileSync(
    config,
    `[databases]
* = host=${connection.host} port=${connection.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${poolSizes[mode]}
`,
  );
  const child = spawn(pgBouncer ?? 'pgbouncer', ['-q', config], {
    ...serverAccount(),
    cwd: folder,
    stdio: 'ignore',
  });
  child.unref();
  await until(`PgBouncer before ${name} accepts connections`, startMillis, () => answers(port));
  return child;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { spawn } from 'child_process';
import { once } from 'events';
import { appendFileSync, rmSync } from 'fs';
import { join } from 'path';
import { text } from 'stream/consumers';
import { ClusterError } from './cluster-error.ts';
import { writeFor } from './cluster-site.ts';
import { copyTree } from './copy-tree.ts';
import type { Server } from './server.ts';
import type { HostConnection } from './host-connection.ts';
import { withSession } from './session.ts';

/**
 * Makes the data folder of a primary.
 *
 * @throws {ClusterError} with what initdb says, for example about a setting that does not exist.
 */
export async function initializeData(
  primary: Server,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const { site } = primary;
  const child = spawn(
    site.programs.initdb,
    [
      `--pgdata=${primary.dataFolder}`,
      `--username=${site.user}`,
      `--pwfile=${site.passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    {
      ...site.account,
      cwd: site.folder,
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const exit = once(child, 'exit');
  const output = text(child.stderr);
  if (child.pid !== undefined) site.watchdog.guard(child.pid);
  const [code] = await exit;
  if (child.pid !== undefined) site.watchdog.release(child.pid);
  if (code !== 0) throw new ClusterError(`initdb failed: ${(await output).trim()}`);
}

/** Makes a replica of a primary that never ran. */
export async function copyFreshData(primary: Server, replica: Server): Promise<void> {
  await copyTree(primary.dataFolder, replica.dataFolder, replica.site.account);
  follow(primary, replica);
}

/** Makes a replica of a primary that runs, in place of whatever the stopped replica was. */
export async function copyRunningData(
  primary: Server,
  replica: Server,
  connection: HostConnection,
): Promise<void> {
  const { account } = replica.site;
  rmSync(replica.dataFolder, { recursive: true, force: true });
  await withSession(connection, async (session) => {
    await session.query('select pg_backup_start($1, true)', [replica.name]);
    await copyTree(primary.dataFolder, replica.dataFolder, account, isOfRunningServer);
    const { rows } = await session.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    );
    const label = rows[0]?.labelfile ?? '';
    writeFor(account, join(replica.dataFolder, 'backup_label'), label);
  });
  follow(primary, replica);
}

/** Has a replica's data folder say whom it follows. */
function follow(primary: Server, replica: Server): void {
  const { account, user, passFile } = replica.site;
  const source = Object.entries({
    host: '127.0.0.1',
    port: String(primary.port),
    user,
    passfile: passFile,
    application_name: replica.name,
  }).map(([name, value]) => `${name}=${quote(value)}`);

  // The last line of a setting counts; a promoted replica waits for nobody.
  appendFileSync(
    join(replica.dataFolder, 'postgresql.auto.conf'),
    `primary_conninfo = ${quote(source.join(' '))}\nsynchronous_standby_names = ''\n`,
  );
  writeFor(account, join(replica.dataFolder, 'standby.signal'), '');
}

// Connection strings and postgresql.conf both read a backslash before a quote.
function quote(value: string): string {
  return `'${value.replace(/[\\']/g, String.raw`\$&`)}'`;
}

// https://www.postgresql.org/docs/18/continuous-archiving.html, "Backing Up The Data Directory"
function isOfRunningServer(path: string): boolean {
  return (
    /^(pg_dynshmem|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans|pg_wal)\/./.test(
      path,
    ) ||
    /^(postmaster\.(pid|opts)|backup_label(\.old)?|standby\.signal)$/.test(path) ||
    /(^|\/)(pg_internal\.init[^/]*|pgsql_tmp[^/]*)$/.test(path)
  );
}

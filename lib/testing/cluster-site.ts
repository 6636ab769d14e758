import { randomBytes } from 'crypto';
import { chownSync, mkdirSync, writeFileSync } from 'fs';
import { tmpdir } from 'os';
import { join } from 'path';
import { type Programs, preparePrograms } from './programs.ts';
import { canReach, serverAccount, type ServerAccount } from './server-account.ts';
import { findServerPackage } from './server-package.ts';
import { Watchdog } from './watchdog.ts';

/** What the servers of one launched cluster share: a folder, and everything needed to run in it. */
export interface ClusterSite {
  readonly folder: string;
  readonly account: ServerAccount;
  readonly programs: Programs;
  readonly watchdog: Watchdog;
  readonly user: string;
  readonly password: string;
  /** Holds the password and nothing else, for initdb. */
  readonly passwordFile: string;
  /** Holds the password for libpq, so that it stands in no setting and no log. */
  readonly passFile: string;
}

/**
 * Makes the folder of a cluster and the programs that run in it.
 *
 * @throws {ConfigError} when the server programs are not installed.
 */
export async function createClusterSite(user: string): Promise<ClusterSite> {
  const serverPackage = findServerPackage();
  const account = serverAccount();
  const parent = canReach(account, tmpdir()) ? tmpdir() : '/tmp';
  const folder = join(parent, `knex-rwsplit-${randomBytes(6).toString('hex')}`);
  // Before the folder: at no moment is there one that nobody would remove.
  const watchdog = new Watchdog(folder);

  try {
    mkdirSync(folder, { mode: 0o700 });
    if (account !== undefined) chownSync(folder, account.uid, account.gid);
    const password = randomBytes(12).toString('hex');
    return {
      folder,
      account,
      watchdog,
      user,
      password,
      programs: await preparePrograms(serverPackage, join(folder, 'programs'), account),
      passwordFile: writeFor(account, join(folder, 'password'), password),
      passFile: writeFor(account, join(folder, 'pgpass'), `*:*:*:*:${password}\n`),
    };
  } catch (error) {
    await watchdog.finish();
    throw error;
  }
}

/** Writes a file that only the servers' account may read. */
export function writeFor(account: ServerAccount, path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 });
  if (account !== undefined) chownSync(path, account.uid, account.gid);
  return path;
}

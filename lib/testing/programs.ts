import { existsSync, readFileSync, symlinkSync } from 'fs';
import { basename, join } from 'path';
import { copyTree } from './copy-tree.ts';
import { canReach, type ServerAccount } from './server-account.ts';

/** PostgreSQL's server programs, ready to run. */
export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  /** Whether the extension `pg_stat_statements` comes with them. */
  readonly haveStatementStatistics: boolean;
}

/**
 * Makes the programs of an installed package runnable by an account.
 *
 * They are used where they lie if that is possible, and else from a copy in `copyFolder`: where
 * the account cannot reach them, or where the links that npm's install script makes (if it may
 * run) are missing and cannot be made.
 */
export async function preparePrograms(
  packageFolder: string,
  copyFolder: string,
  account: ServerAccount,
): Promise<Programs> {
  const installed = join(packageFolder, 'native');
  if (canReach(account, join(installed, 'bin')) && tryLink(packageFolder, installed)) {
    return programsOf(installed);
  }

  await copyTree(installed, copyFolder, account, isDispensable);
  link(packageFolder, copyFolder);
  return programsOf(copyFolder);
}

function programsOf(folder: string): Programs {
  const extensions = join(folder, 'share', 'postgresql', 'extension');
  return {
    initdb: join(folder, 'bin', 'initdb'),
    postgres: join(folder, 'bin', 'postgres'),
    haveStatementStatistics: existsSync(join(extensions, 'pg_stat_statements.control')),
  };
}

function tryLink(packageFolder: string, folder: string): boolean {
  try {
    link(packageFolder, folder);
    return true;
  } catch {
    return false;
  }
}

function link(packageFolder: string, folder: string): void {
  for (const { source, target } of readLinks(packageFolder)) {
    const path = join(folder, target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(path)) throw error;
    }
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function readLinks(packageFolder: string): Link[] {
  const list = join(packageFolder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return [];

  // The package's own list, in its own form.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const links = JSON.parse(readFileSync(list, 'utf8')) as Link[];
  // The paths in it begin with "native/"; every link stands beside the file that it points to.
  return links.map(({ source, target }) => ({ source, target: target.replace(/^native\//, '') }));
}

function isDispensable(path: string): boolean {
  return path.endsWith('.a') || path.startsWith(join('lib', 'postgresql', 'pgxs'));
}

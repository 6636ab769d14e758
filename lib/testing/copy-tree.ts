import { chown, copyFile, lchown, mkdir, readdir, readlink, symlink } from 'fs/promises';
import { join } from 'path';
import type { ServerAccount } from './server-account.ts';
import { isSystemError } from './system-error.ts';

/** What to leave out of a copy: answers for each path, relative to the folder that is copied. */
export type Exclusion = (path: string) => boolean;

/** Copies a folder for an account; a file that vanishes meanwhile is left out. */
export async function copyTree(
  source: string,
  target: string,
  account: ServerAccount,
  isExcluded: Exclusion = () => false,
  path = '',
): Promise<void> {
  const folder = join(target, path);
  // PostgreSQL refuses a data directory that others may enter.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (account !== undefined) await chown(folder, account.uid, account.gid);

  const entries = await readdir(join(source, path), { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const inner = join(path, entry.name);
      if (isExcluded(inner)) return;
      if (entry.isDirectory()) {
        await ignoreMissing(copyTree(source, target, account, isExcluded, inner));
      } else {
        await ignoreMissing(copyEntry(join(source, inner), join(target, inner), account, entry));
      }
    }),
  );
}

async function copyEntry(
  source: string,
  target: string,
  account: ServerAccount,
  entry: { isSymbolicLink(): boolean },
): Promise<void> {
  await (entry.isSymbolicLink()
    ? symlink(await readlink(source), target)
    : copyFile(source, target));
  if (account !== undefined) await lchown(target, account.uid, account.gid);
}

async function ignoreMissing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error;
  }
}

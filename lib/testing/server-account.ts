import { realpathSync, statSync } from 'fs';
import { dirname } from 'path';

/** The user that servers run as; undefined where that is simply the user of this process. */
export type ServerAccount = { readonly uid: number; readonly gid: number } | undefined;

const nobody = 65_534;

/** Chooses the user that servers run as: PostgreSQL refuses to run as root. */
export function serverAccount(): ServerAccount {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : undefined;
}

/** Says whether the account can enter a folder and every folder above it. */
export function canReach(account: ServerAccount, folder: string): boolean {
  if (account === undefined) return true;

  const enterableByOthers = 0o001;
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    if ((statSync(path).mode & enterableByOthers) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

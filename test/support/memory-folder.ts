import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const place = '/dev/shm';
const gigabyte = 2 ** 30;

/**
 * Makes a folder in memory, for data that a run throws away: on a disk, servers take seconds to be
 * made and removed.
 *
 * @returns its path; undefined where there is no memory to spare, or no such folder for programs.
 */
export function makeMemoryFolder(): string | undefined {
  if (!hasRoom()) return undefined;

  const folder = mkdtempSync(join(place, 'rwsplit-'));
  // Servers may run under an account of their own.
  chmodSync(folder, 0o755);
  return folder;
}

function hasRoom(): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8').match(/^tmpfs \/dev\/shm tmpfs (\S+)/m);
    // A container often has one of 64 MB, in which no program may run.
    if (mount?.[1] === undefined || mount[1].split(',').includes('noexec')) return false;

    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize > 3 * gigabyte && freemem() > 5 * gigabyte;
  } catch {
    return false;
  }
}

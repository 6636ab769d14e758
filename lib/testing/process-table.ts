import { execFileSync } from 'child_process';
import { readdirSync, readFileSync } from 'fs';
import { isSystemError } from './system-error.ts';

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
}

/** The processes that `pid` started and that still run. */
export function childrenOf(pid: number): number[] {
  return runningProcesses()
    .filter(({ parent }) => parent === pid)
    .map((entry) => entry.pid);
}

/** Those of `pids` that still run; one that ended but was not reaped counts as ended. */
export function stillRunning(pids: readonly number[]): number[] {
  const running = new Set(runningProcesses().map(({ pid }) => pid));
  return pids.filter((pid) => running.has(pid));
}

/** Sends a signal to each process that still exists. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!isSystemError(error, 'ESRCH')) throw error;
    }
  }
}

// Slim Linux images come without `ps`, and macOS without /proc.
function runningProcesses(): ProcessEntry[] {
  const lines = process.platform === 'linux' ? readProc() : readPs();
  return lines.flatMap(([pid, state, parent]) =>
    state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }],
  );
}

type Line = readonly [pid: string, state: string, parent: string];

function readProc(): Line[] {
  return readdirSync('/proc').flatMap((pid): Line[] => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The command's name, in parentheses, may itself hold spaces and parentheses.
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [[pid, state, parent]];
    } catch {
      // It ended between the two readings.
      return [];
    }
  });
}

function readPs(): Line[] {
  const table = execFileSync('ps', ['-axo', 'pid=,stat=,ppid='], { encoding: 'utf8' });
  return table
    .trim()
    .split('\n')
    .map((line): Line => {
      const [pid = '', state = '', parent = ''] = line.trim().split(/\s+/);
      return [pid, state, parent];
    });
}

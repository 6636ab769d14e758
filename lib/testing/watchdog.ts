import { type ChildProcess, spawn } from 'child_process';
import { Socket } from 'net';
import { ClusterError } from './cluster-error.ts';

/**
 * Ends the servers of a cluster and removes its folder, however this process ends.
 *
 * It is a process of its own that waits for its input to close: the operating system closes it
 * on an orderly stop, on Ctrl-C, on a crash and on SIGKILL alike. So there is one way to clean up,
 * and this process needs no signal handlers that would meddle with its host program's.
 */
export class Watchdog {
  readonly #pids = new Set<number>();
  readonly #process: ChildProcess;
  readonly #input: NodeJS.WritableStream;
  readonly #exit: Promise<boolean>;
  readonly #folder: string;
  #finished: Promise<void> | undefined;

  constructor(folder: string) {
    // Detached: a Ctrl-C in the terminal goes to the whole group, and must not reach it.
    this.#process = spawn(process.execPath, ['-e', program, folder], {
      cwd: '/',
      detached: true,
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    if (this.#process.stdin === null) {
      throw new ClusterError(`The clean-up process of ${folder} could not be started.`);
    }
    this.#input = this.#process.stdin;
    // Where the process was ended by somebody, finish() tells.
    this.#input.on('error', () => undefined);
    this.#exit = new Promise((resolve) => {
      this.#process.once('exit', (code) => resolve(code === 0));
      this.#process.once('error', () => resolve(false));
    });
    this.#folder = folder;

    // A forgotten cluster must not keep the host program alive.
    this.#process.unref();
    if (this.#input instanceof Socket) this.#input.unref();
  }

  /** Has the process ended at the clean-up, unless it is released before. */
  guard(...pids: readonly number[]): void {
    for (const pid of pids) this.#pids.add(pid);
    this.#report();
  }

  /** Forgets a process that ended: its number may soon be another's. */
  release(...pids: readonly number[]): void {
    for (const pid of pids) this.#pids.delete(pid);
    this.#report();
  }

  /**
   * Cleans up, and resolves when nothing is left.
   *
   * @throws {ClusterError} when something is left, since the process was ended by somebody else.
   */
  finish(): Promise<void> {
    this.#finished ??= this.#end();
    return this.#finished;
  }

  async #end(): Promise<void> {
    this.#process.ref();
    this.#input.end();
    if (!(await this.#exit)) {
      throw new ClusterError(
        `The clean-up process of the test cluster failed: remove ${this.#folder}, and end the servers that use it.`,
      );
    }
  }

  #report(): void {
    if (this.#finished === undefined) this.#input.write(`${[...this.#pids].join(' ')}\n`);
  }
}

// SIGQUIT is PostgreSQL's immediate shutdown, which also frees its shared memory; SIGCONT lets a
// suspended process take it.
const program = `
const { rmSync } = require('fs');
let reports = '';

function signal(pids, name) {
  return pids.filter((pid) => {
    try { return process.kill(pid, name); } catch { return false; }
  });
}

function end(pids, tries) {
  if (signal(pids, 0).length > 0 && tries > 0) return setTimeout(end, 10, pids, tries - 1);
  signal(pids, 'SIGKILL');
  rmSync(process.argv[1], { recursive: true, force: true, maxRetries: 5 });
}

process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => { reports += text; });
process.stdin.on('end', () => {
  const last = reports.split('\\n').at(-2) ?? '';
  const pids = last.split(' ').filter(Boolean).map(Number);
  signal(pids, 'SIGQUIT');
  signal(pids, 'SIGCONT');
  end(pids, 300);
});
`;

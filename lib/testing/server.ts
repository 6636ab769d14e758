import { type ChildProcess, spawn } from 'child_process';
import { once } from 'events';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'fs';
import { join } from 'path';
import { ClusterError } from './cluster-error.ts';
import type { ClusterSite } from './cluster-site.ts';
import { childrenOf, signalAll, stillRunning } from './process-table.ts';
import { isSystemError } from './system-error.ts';
import { until } from './until.ts';

const startMillis = 30_000;
const stopMillis = 10_000;

/** A running postmaster. */
interface Postmaster {
  readonly pid: number;
  readonly process: ChildProcess;
}

/** One PostgreSQL server: a data folder, and the processes that serve it. */
export class Server {
  readonly name: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly site: ClusterSite;
  readonly #log: string;
  #postmaster: Postmaster | undefined;
  #suspended: number[] = [];

  constructor(site: ClusterSite, name: string, port: number) {
    this.name = name;
    this.port = port;
    this.dataFolder = join(site.folder, name);
    this.site = site;
    this.#log = join(site.folder, `${name}.log`);
  }

  get isRunning(): boolean {
    return this.#postmaster !== undefined && this.#suspended.length === 0;
  }

  /** Starts the server, and resolves when it accepts connections. */
  async start(): Promise<void> {
    if (!existsSync(this.dataFolder)) {
      throw new ClusterError(
        `${this.name} cannot start, as its cluster was stopped: startCluster() makes another.`,
      );
    }
    if (this.#postmaster !== undefined) return;

    const pidFile = join(this.dataFolder, 'postmaster.pid');
    // Left by a killed postmaster: its number may be another process's by now.
    rmSync(pidFile, { force: true });
    this.#postmaster = await this.#spawn();
    await until(`${this.name} accepts connections`, startMillis, () => {
      if (this.#postmaster === undefined) {
        throw new ClusterError(`${this.name} ended while starting. ${this.#endOfLog()}`);
      }
      // Its eighth line is what pg_ctl waits for, too.
      return readIfThere(pidFile)?.split('\n')[7]?.trim() === 'ready';
    });
  }

  /** Shuts the server down: `SIGINT` is PostgreSQL's fast mode, `SIGQUIT` its immediate one. */
  async stop(mode: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    if (this.#postmaster === undefined) return;

    this.wake();
    await this.#end(this.#postmaster, mode);
  }

  /** Ends every process of the server at once, as a crash of the machine would. */
  async kill(): Promise<void> {
    if (this.#postmaster === undefined) return;

    const backends = suspend(this.#postmaster.pid);
    signalAll(backends, 'SIGKILL');
    // SIGKILL would leave its shared memory to the machine. To everybody else this is the same.
    await this.#end(this.#postmaster, 'SIGQUIT');
    // One that still holds shared memory would keep the server from starting again.
    await until(
      `every process of ${this.name} has ended`,
      stopMillis,
      () => stillRunning(backends).length === 0,
    );
  }

  /** Suspends every process of the server: connections stay open and nothing answers. */
  hang(): void {
    if (this.#postmaster === undefined) {
      throw new ClusterError(`${this.name} cannot hang, as it is not running: start() it first.`);
    }

    const { pid } = this.#postmaster;
    this.#suspended = [...suspend(pid), pid];
    this.site.watchdog.guard(...this.#suspended);
  }

  /** Lets a hung server go on. */
  wake(): void {
    const backends = this.#suspended.filter((pid) => pid !== this.#postmaster?.pid);
    signalAll(this.#suspended, 'SIGCONT');
    this.site.watchdog.release(...backends);
    this.#suspended = [];
  }

  async #end({ pid, process }: Postmaster, mode: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const exit = once(process, 'exit');
    process.ref();
    signalAll([pid], mode);
    signalAll([pid], 'SIGCONT');
    // A fast shutdown waits for what a hung replica has not received.
    const impatience = setTimeout(() => signalAll([pid], 'SIGQUIT'), stopMillis);
    await exit;
    clearTimeout(impatience);
  }

  async #spawn(): Promise<Postmaster> {
    const log = openSync(this.#log, 'a');
    // Detached: a Ctrl-C in the terminal is for the host program to handle.
    const child = spawn(
      this.site.programs.postgres,
      ['-D', this.dataFolder, '-p', String(this.port), '-c', `cluster_name=${this.name}`],
      {
        ...this.site.account,
        cwd: this.site.folder,
        detached: true,
        env: { LC_ALL: 'C' },
        stdio: ['ignore', log, log],
      },
    );
    closeSync(log);
    if (child.pid !== undefined) this.site.watchdog.guard(child.pid);
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    child.unref();
    child.once('exit', () => {
      this.site.watchdog.release(pid, ...this.#suspended);
      this.#postmaster = undefined;
      this.#suspended = [];
    });
    return { pid, process: child };
  }

  #endOfLog(): string {
    const lines = readFileSync(this.#log, 'utf8').trimEnd().split('\n');
    return `Its log ends with: ${lines.slice(-5).join(' | ')}`;
  }
}

/** Suspends a postmaster and its backends, and returns the backends. */
function suspend(postmaster: number): number[] {
  // The postmaster first, so that it neither starts processes nor reacts to the end of any.
  signalAll([postmaster], 'SIGSTOP');
  let backends: number[] = [];
  for (let known = -1; known < backends.length;) {
    known = backends.length;
    backends = childrenOf(postmaster);
    signalAll(backends, 'SIGSTOP');
  }
  return backends;
}

// A server that fails to start takes its file away again.
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

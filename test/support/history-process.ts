import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { knex, type Knex } from 'knex';
import { RWSplitClient } from '../../lib/index.ts';
import type { Turn, TurnResult } from './history-turn.ts';

/** A process of its own that runs turns of sessions. */
export class HistoryProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, (result: TurnResult) => void>();
  readonly #ended: Promise<never>;
  #turns = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ({ id, ...result }: TurnResult & { id: number }) => {
      this.#pending.get(id)?.(result);
      this.#pending.delete(id);
    });
    this.#ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The process ended by itself with ${String(code)}.`);
    });
    this.#ended.catch(() => undefined);
  }

  /** Resolves when the process is ready. */
  async ready(): Promise<this> {
    await this.#answerTo(this.#turns++);
    return this;
  }

  async run(turn: Turn): Promise<TurnResult> {
    const id = this.#turns++;
    const result = this.#answerTo(id);
    this.#child.send({ id, turn });
    return result;
  }

  /** Lets it end by itself. */
  async stop(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }

  async #answerTo(id: number): Promise<TurnResult> {
    const answer = new Promise<TurnResult>((resolve) => this.#pending.set(id, resolve));
    return Promise.race([answer, this.#ended]);
  }
}

/** Starts a process that runs turns on a Knex instance of its own; the configuration is sent as JSON. */
export async function startHistoryProcess(
  name: string,
  config: Knex.Config,
): Promise<HistoryProcess> {
  const program = join(__dirname, 'history-program.ts');
  const child = fork(program, [name, JSON.stringify(config)], { execArgv: ['--import', 'tsx'] });
  return new HistoryProcess(child).ready();
}

/** A Knex instance that splits. */
export function openDatabase(config: Knex.Config): Knex {
  return knex({ client: RWSplitClient, log: quiet, ...config });
}

// That connections are lost is what tests of them are about.
const quiet: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} };

import { systemClock } from '../clock.ts';
import type { HostSettings } from '../config/settings.ts';
import { asError, ConfigError } from '../errors.ts';
import type { RWSplitEmitter } from '../events.ts';
import type { Cluster } from '../hosts/cluster.ts';

// How long the function may take, if Knex lets a query wait so long.
const ANSWER_MILLIS = 5000;

// How soon it is asked again, by the next statement, when it failed.
const ASK_AGAIN_MILLIS = 1000;

/** Asks the application's function for the replicas, once it is known that they are needed. */
export class ReplicaDiscovery {
  readonly #name: () => Promise<readonly HostSettings[]>;
  readonly #cluster: Cluster;
  readonly #events: RWSplitEmitter;
  readonly #millis: number;
  #asked: Promise<void> | undefined;
  #isDone = false;

  constructor(
    name: () => Promise<readonly HostSettings[]>,
    cluster: Cluster,
    events: RWSplitEmitter,
    acquireMillis: number,
  ) {
    this.#name = name;
    this.#cluster = cluster;
    this.#events = events;
    this.#millis = Math.min(ANSWER_MILLIS, acquireMillis);
  }

  /** Whether there is nothing left to ask. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Resolves when the cluster has its replicas, or goes on without them for the moment: a list that
   * can't be had is no reason to refuse writes.
   *
   * @throws {ConfigError} when the answer can't be used, which is a mistake.
   */
  ask(): Promise<void> {
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  async #ask(): Promise<void> {
    try {
      this.#cluster.addReplicas(await this.#answerInTime());
      this.#isDone = true;
    } catch (error) {
      this.#events.tell('discovery:error', { error: asError(error) });
      systemClock.after(ASK_AGAIN_MILLIS, () => {
        this.#asked = undefined;
      });
      if (error instanceof ConfigError) throw error;
    }
  }

  async #answerInTime(): Promise<readonly HostSettings[]> {
    return new Promise((resolve, reject) => {
      // A query waits for this: unlike every other timer it keeps the process alive.
      const timer = setTimeout(() => {
        reject(new Error(`rwSplit.replicas() did not answer within ${this.#millis} ms.`));
      }, this.#millis);
      this.#name()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }
}

import type { Clock } from '../clock.ts';
import type { HostSettings } from '../config/settings.ts';
import { asError, ConfigError } from '../errors.ts';
import type { RWSplitEmitter } from '../events.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Host } from '../hosts/host.ts';
import { ReplicaChanges } from './replica-changes.ts';

/** What a {@link ReplicaDiscovery} works with. */
export interface DiscoveryParts {
  /** The application's function, its answer checked and completed. */
  readonly list: () => Promise<readonly HostSettings[]>;
  readonly cluster: Cluster;
  /** Gives a host other settings. */
  readonly remake: (host: Host, settings: HostSettings) => void;
  /** Probes a host now. */
  readonly check: (host: Host) => Promise<void>;
  /** Told when hosts have come or gone. */
  readonly onChange: () => void;
  readonly events: RWSplitEmitter;
  readonly clock: Clock;
  readonly intervalMillis: number;
  /** How long a query may wait for the first answer. */
  readonly answerMillis: number;
}

// How long the function may take, if Knex lets a query wait so long.
const ANSWER_MILLIS = 5000;

// How soon it is asked again, by the next statement, when it failed.
const ASK_AGAIN_MILLIS = 1000;

// Processes that started together should not ask together.
const JITTER = 0.2;

/** Asks the application's function for the replicas: for the first query, and then in the background. */
export class ReplicaDiscovery {
  readonly #parts: DiscoveryParts;
  readonly #changes: ReplicaChanges;
  readonly #millis: number;
  #asked: Promise<void> | undefined;
  #isDone = false;
  #isDestroyed = false;
  #cancelTimer: () => void = () => undefined;
  #giveUp: () => void = () => undefined;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
    this.#changes = new ReplicaChanges(parts);
    this.#millis = Math.min(ANSWER_MILLIS, parts.answerMillis);
  }

  /** Whether the first answer is there. */
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
    this.#asked ??= this.#askFirst();
    return this.#asked;
  }

  /** Hosts that have gone from the list, and are yet to end. */
  get leaving(): readonly Host[] {
    return this.#changes.leaving;
  }

  /** Asks no more, and waits for the hosts that are leaving. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#cancelTimer();
    this.#giveUp();
    await this.#changes.end();
  }

  async #askFirst(): Promise<void> {
    const { cluster, events, clock } = this.#parts;
    try {
      const answer = await this.#answerInTime();
      if (this.#isDestroyed) return;
      cluster.add(answer);
      this.#isDone = true;
      this.#schedule();
    } catch (error) {
      if (this.#isDestroyed) return;
      events.tell('discovery:error', { error: asError(error) });
      cluster.goOn();
      this.#cancelTimer = clock.after(ASK_AGAIN_MILLIS, () => {
        this.#asked = undefined;
      });
      if (error instanceof ConfigError) throw error;
    }
  }

  #schedule(): void {
    if (this.#isDestroyed) return;

    const { clock, intervalMillis } = this.#parts;
    const delay = intervalMillis * (1 - JITTER + 2 * JITTER * Math.random());
    this.#cancelTimer = clock.after(delay, () => void this.#askAgain());
  }

  async #askAgain(): Promise<void> {
    const { events } = this.#parts;
    try {
      const answer = await this.#answerInTime();
      if (this.#isDestroyed) return;
      // A registry that forgets everything is more likely than a cluster without replicas.
      if (answer.length === 0)
        throw new Error('rwSplit.replicas() named no host; the last list stays.');
      const [taken] = await this.#changes.apply(answer);
      if (taken !== undefined) {
        throw new Error(
          `rwSplit.replicas() names a host "${taken}", as another one is named that is in use; give each a name of its own.`,
        );
      }
    } catch (error) {
      if (!this.#isDestroyed) events.tell('discovery:error', { error: asError(error) });
    } finally {
      this.#schedule();
    }
  }

  async #answerInTime(): Promise<readonly HostSettings[]> {
    return new Promise((resolve, reject) => {
      const late = (): void =>
        reject(new Error(`rwSplit.replicas() did not answer within ${this.#millis} ms.`));
      const { clock, list } = this.#parts;
      // A query waits for the first answer, and for no other.
      const stopWaiting = this.#isDone
        ? clock.after(this.#millis, late)
        : clock.holdFor(this.#millis, late);
      this.#giveUp = () => {
        stopWaiting();
        reject(new Error('rwSplit.replicas() is not waited for any longer: destroy() was called.'));
      };
      list().then(resolve, reject).finally(stopWaiting);
    });
  }
}

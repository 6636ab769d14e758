import type { Connection, Host } from '../hosts/host.ts';
import type { PendingAcquire } from '../hosts/pool.ts';
import type { RWSplit } from './rw-split.ts';

/**
 * What `client.pool` is: the primary's pool, in the shape that applications know from Knex.
 *
 * Readiness probes acquire from it, and metrics read its counters.
 */
export class PoolFacade {
  readonly #split: RWSplit;
  readonly #onDestroy: () => void;

  constructor(split: RWSplit, onDestroy: () => void) {
    this.#split = split;
    this.#onDestroy = onDestroy;
  }

  get min(): number {
    return this.#primary.pool.minimum;
  }

  get max(): number {
    return this.#primary.pool.maximum;
  }

  acquire(): PendingAcquire<Connection> {
    return this.#primary.pool.acquire();
  }

  /** Gives back a connection to the pool that it came from. */
  release(connection: Connection): boolean {
    return this.#split.dispatcher.releaseTaken(connection);
  }

  numUsed(): number {
    return this.#primary.pool.numUsed();
  }

  numFree(): number {
    return this.#primary.pool.numFree();
  }

  numPendingAcquires(): number {
    return this.#primary.pool.numPendingAcquires();
  }

  numPendingCreates(): number {
    return this.#primary.pool.numPendingCreates();
  }

  numPendingValidations(): number {
    return this.#primary.pool.numPendingValidations();
  }

  isEmpty(): boolean {
    return this.#primary.pool.isEmpty();
  }

  /** Closes the pools of all hosts. */
  async destroy(): Promise<void> {
    this.#onDestroy();
    await this.#split.destroy();
  }

  // While no primary is known, the one of the configuration stands for it.
  get #primary(): Host {
    const { routable, hosts } = this.#split.cluster;
    const [primary] = [...routable.primary, ...hosts];
    if (primary === undefined) throw new Error('A cluster has at least one host.');
    return primary;
  }
}

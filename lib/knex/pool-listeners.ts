import type { Connection } from '../hosts/host.ts';
import type { HostPool } from '../hosts/pool.ts';

type Listener = (...args: unknown[]) => void;

/** Listens to the events of pools, as far as any listener goes. */
interface Listening {
  on(event: string, listener: Listener): void;
  removeListener(event: string, listener: Listener): void;
}

/** The listeners that one client has at shared pools, which must not outlive it. */
export class PoolListeners {
  readonly #added: { pool: Listening; event: string; listener: Listener }[] = [];

  /** Listens to a pool. */
  on(pool: HostPool<Connection>, event: string, listener: Listener): void {
    // tarn types each event for itself.
    const listening = pool as unknown as Listening;
    listening.on(event, listener);
    this.#added.push({ pool: listening, event, listener });
  }

  /** Listens no more: to an event, by a listener, or to any at all. */
  remove(event?: string, listener?: Listener): void {
    for (const added of this.#added.filter(
      (one) => isOrAny(event, one.event) && isOrAny(listener, one.listener),
    )) {
      added.pool.removeListener(added.event, added.listener);
      this.#added.splice(this.#added.indexOf(added), 1);
      // As EventEmitter does: one at a time.
      if (listener !== undefined) return;
    }
  }
}

function isOrAny<T>(wanted: T | undefined, value: T): boolean {
  return wanted === undefined || wanted === value;
}

/** The members of `client.pool` by which an application listens, of one client among those that share it. */
export function listening(listeners: PoolListeners, pool: () => HostPool<Connection>): object {
  return {
    on: (event: string, listener: Listener) => listeners.on(pool(), event, listener),
    removeListener: (event: string, listener: Listener) => listeners.remove(event, listener),
    removeAllListeners: (event?: string) => listeners.remove(event),
  };
}

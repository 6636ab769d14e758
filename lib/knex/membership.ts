import { setMaxListeners } from 'events';
import type { RWSplitSettings } from '../config/settings.ts';
import type { Connection } from '../hosts/host.ts';
import type { PendingAcquire } from '../hosts/pool-settings.ts';
import type { PgClient } from './internals.ts';
import { leaveHosts } from './leave-hosts.ts';
import { PoolListeners } from './pool-listeners.ts';
import type { SharedDispatcher } from './shared-dispatcher.ts';
import type { SharedPools } from './shared-pools.ts';
import type { SplitState } from './split-state.ts';

/** The part of one client in pools that several share, from its construction to its end. */
export class Membership {
  readonly client: PgClient;
  readonly state: SplitState;
  readonly settings: RWSplitSettings;
  readonly shared: SharedPools;
  readonly listeners: PoolListeners = new PoolListeners();
  /** What gives the client its connections. */
  dispatcher: SharedDispatcher | undefined;
  /** Ends what still waits in a pool for the client. */
  readonly ending: AbortController = new AbortController();
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;

  constructor(shared: SharedPools, client: PgClient, state: SplitState, settings: RWSplitSettings) {
    this.shared = shared;
    this.client = client;
    this.state = state;
    this.settings = settings;
    // As many listen as queries wait.
    setMaxListeners(0, this.ending.signal);
  }

  /**
   * Waits for what is acquired, no longer than the client lasts.
   *
   * @param giveBack takes what comes too late.
   */
  async until<T>(acquire: () => Promise<T>, giveBack: (late: T) => void): Promise<T> {
    if (this.#hasEnded) throw destroyed();

    const acquiring = acquire();
    let end: (() => void) | undefined;
    const ended = new Promise<never>((_, reject) => {
      end = () => reject(destroyed());
      this.#waiting.add(end);
    });
    try {
      const acquired = await Promise.race([acquiring, ended]);
      if (this.#hasEnded) throw destroyed();
      return acquired;
    } catch (error) {
      if (this.#hasEnded) acquiring.then(giveBack, () => undefined);
      throw error;
    } finally {
      if (end !== undefined) this.#waiting.delete(end);
    }
  }

  /** Has an acquire that the application waits for end with the client. */
  untilAborted(pending: PendingAcquire<Connection>): PendingAcquire<Connection> {
    const abort = (): void => pending.abort();
    const settled = (): unknown => this.#waiting.delete(abort);
    if (this.#hasEnded) abort();
    this.#waiting.add(abort);
    pending.promise.then(settled, settled);
    return pending;
  }

  /**
   * Leaves the pools to the other clients, when what this one runs has ended or had its time; closes
   * them where there is no other.
   */
  async leave(): Promise<void> {
    this.#hasEnded = true;
    for (const end of this.#waiting) end();
    this.#waiting.clear();
    this.ending.abort();
    this.listeners.remove();
    this.state.states.onUse = () => undefined;
    const { watch } = this.shared.pools;
    const isLast = this.shared.remove(this);
    if (isLast) await watch.destroy();
    else await leaveHosts(watch, (connection) => this.dispatcher?.holds(connection) === true);
    this.shared.forget(this);
  }
}

function destroyed(): Error {
  return new Error('The client was destroyed.');
}

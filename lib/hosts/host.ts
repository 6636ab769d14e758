import type { HostView } from '../balancers/balancer.ts';
import type { Clock } from '../clock.ts';
import type { HostSettings } from '../config/settings.ts';
import type { HostRole } from '../events.ts';
import type { HostPool, PoolStats } from './pool.ts';
import { Waiters } from './waiters.ts';

/** What a `pg` connection must be for this library: an object with an identity. */
export type Connection = object;

/** Counters of what a host served since the client was made. */
export interface ServedStats {
  readonly reads: number;
  readonly writes: number;
  /** Connections that could not be opened. */
  readonly connectErrors: number;
}

// Share of the newest sample in the moving average: about the last ten queries count.
const LATENCY_WEIGHT = 0.2;

/** One server we may connect to: its pool, its role as last seen, and what it is doing. */
export class Host implements HostView {
  readonly name: string;
  order = 0;
  readonly tags: readonly string[];
  readonly settings: HostSettings;
  readonly pool: HostPool<Connection>;
  /** What the configuration says, until a connection tells. */
  role: HostRole;
  /** Whether `role` was told by the server itself. */
  isRoleObserved = false;
  /** Taken out of use by hand. */
  isDraining = false;
  latencyMillis = 0;
  lastError: Error | undefined;
  readonly #primaryReads: number;
  #running = 0;
  #reads = 0;
  #writes = 0;
  #connectErrors = 0;
  readonly #idleWaiters: Waiters = new Waiters();

  /** @param primaryReads what the host weighs among the readers while it is the primary; 0 for its own weight. */
  constructor(
    settings: HostSettings,
    role: HostRole,
    primaryReads: number,
    pool: HostPool<Connection>,
  ) {
    this.name = settings.name;
    this.#primaryReads = primaryReads;
    this.tags = settings.tags;
    this.settings = settings;
    this.role = role;
    this.pool = pool;
  }

  /** The share of the reads; a role's own where the host is the primary that serves reads. */
  get weight(): number {
    const isReadingPrimary = this.role === 'primary' && this.#primaryReads > 0;
    return isReadingPrimary ? this.#primaryReads : this.settings.weight;
  }

  /** Connections in use, and queries that wait for one. */
  get inFlight(): number {
    return this.pool.numUsed() + this.pool.numPendingAcquires();
  }

  get served(): ServedStats {
    return { reads: this.#reads, writes: this.#writes, connectErrors: this.#connectErrors };
  }

  get poolStats(): PoolStats {
    return this.pool.stats;
  }

  /** Counts a query in; call {@link Host.finish} when it has ended, however it ended. */
  begin(isRead: boolean): void {
    this.#running++;
    if (isRead) this.#reads++;
    else this.#writes++;
  }

  /** Counts a query out. */
  finish(startedAt: number, clock: Clock): void {
    this.#running--;
    const millis = clock.now() - startedAt;
    this.latencyMillis =
      this.latencyMillis === 0
        ? millis
        : this.latencyMillis + LATENCY_WEIGHT * (millis - this.latencyMillis);
    if (this.#running === 0) this.#idleWaiters.wakeAll();
  }

  /** Keeps why a connection could not be opened, for errors and snapshots. */
  failed(error: Error): void {
    this.#connectErrors++;
    this.lastError = error;
  }

  /** Resolves once no query runs on the host, or after `millis`. */
  idle(millis: number, clock: Clock): Promise<boolean> {
    if (this.#running === 0) return Promise.resolve(true);
    return this.#idleWaiters.wait(millis, clock);
  }
}

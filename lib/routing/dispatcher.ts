import type { Balancer } from '../balancers/balancer.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../hosts/cluster.ts';
import { findPrimary } from '../hosts/find-primary.ts';
import { connectionState, settled } from '../hosts/connection-state.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { PoolFullError, acquire } from './acquire.ts';
import type { Acquired } from './acquire.ts';
import { FallbackShare } from './fallback-share.ts';
import { Lease } from './lease.ts';
import type { LockKeeper } from './lock-keeper.ts';
import type { Route, RouteRequest } from './route.ts';
import { route } from './router.ts';
import type { RoutingPolicy } from './router.ts';
import type { SessionChanges } from './session-changes.ts';

// How long a connection that is given back may take to end its last statement.
const SETTLE_MILLIS = 1000;

/** What a {@link Dispatcher} works with. */
export interface DispatcherParts {
  readonly cluster: Cluster;
  readonly balancer: Balancer;
  readonly policy: RoutingPolicy & { readonly fallbackShare: number };
  readonly clock: Clock;
  readonly locks: LockKeeper;
  readonly sessionChanges: SessionChanges;
  /** Told when a statement may have changed the schema. */
  readonly onCatalogChange: () => void;
  /** How long a query may wait for a connection, over all hosts that are tried. */
  readonly acquireMillis: number;
}

/** Gives each request a connection of the right host, and takes it back. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #share: FallbackShare;
  readonly #leases = new WeakMap<Connection, Lease>();

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#share = new FallbackShare(parts.policy.fallbackShare, parts.clock);
  }

  /** The lease that a connection is in use under. */
  leaseOf(connection: Connection): Lease | undefined {
    return this.#leases.get(connection);
  }

  /** Decides where a request may go, without taking a connection. */
  route(request: RouteRequest): Route {
    return route(request, this.#parts.cluster.routable, this.#parts.policy);
  }

  /** Takes a connection for a request, until the lease is released. */
  async lease(request: RouteRequest): Promise<Lease> {
    const { acquireMillis, clock } = this.#parts;
    const deadline = clock.now() + acquireMillis;
    const { route, host, connection, leave } = await this.acquire(request);
    const lease = new Lease(route, host, connection, clock, (ended) => {
      leave?.();
      return this.#end(ended);
    });
    lease.acquireMillisLeft = deadline - clock.now();
    this.#leases.set(connection, lease);
    return lease;
  }

  /** Wraps a connection that goes back to no pool when the lease ends. */
  adopt(route: Route, { host, connection }: Acquired): Lease {
    const lease = new Lease(route, host, connection, this.#parts.clock, (ended) => {
      this.#leases.delete(ended.connection);
      return undefined;
    });
    this.#leases.set(connection, lease);
    return lease;
  }

  /** Goes on with a lease on another host. */
  move(lease: Lease, host: Host, connection: Connection): void {
    lease.move(host, connection);
    this.#leases.set(connection, lease);
  }

  /** Takes a connection without a lease: for the caller to wrap or to release to its host's pool. */
  async acquire(
    request: RouteRequest,
    budgetMillis: number = this.#parts.acquireMillis,
  ): Promise<Acquired & { readonly route: Route }> {
    const { cluster, balancer, clock } = this.#parts;
    const parts = { all: cluster.hosts, balancer, clock, share: this.#share };
    const deadline = clock.now() + budgetMillis;

    // Each turn learns a role that was only presumed, or is the last: so there are few.
    let failure: unknown;
    for (;;) {
      const known = cluster.routable;
      const decided = this.route(request);
      try {
        const millis = deadline - clock.now();
        const taken = await acquire(decided, parts, millis);
        if (cluster.routable === known || this.#stillFits(request, decided, taken.host)) {
          return { ...taken, route: decided };
        }
        taken.leave?.();
        taken.host.pool.release(taken.connection);
      } catch (error) {
        if (error instanceof PoolFullError) throw error;
        failure = error;
      }

      if (decided.role === 'primary') await findPrimary(cluster, deadline - clock.now());
      // With no time left there would be nothing to say but that: what went wrong says more.
      const isLate = failure !== undefined && deadline - clock.now() < 1;
      if (cluster.routable === known || isLate) throw failure;
    }
  }

  /** Gives a connection back that was taken without a lease. */
  release(host: Host, connection: Connection): void {
    this.#toPool(host, connection);
  }

  /**
   * Gives back a connection that the application took for itself.
   *
   * @returns false when it isn't the application's: given back already, or a query's.
   */
  releaseTaken(connection: Connection): boolean {
    const lease = this.#leases.get(connection);
    if (lease !== undefined) {
      if (lease.isTaken) void lease.release();
      return lease.isTaken;
    }

    const owner = this.#parts.cluster.hosts.find((host) => host.pool.isUsing(connection));
    if (owner !== undefined) this.#toPool(owner, connection);
    return owner !== undefined;
  }

  // A replica that turns out to be the primary is no fallback yet: other replicas come first.
  #stillFits(request: RouteRequest, decided: Route, host: Host): boolean {
    const { hosts, fallback } = this.route(request);
    return hosts.includes(host) || (fallback.includes(host) && decided.fallback.includes(host));
  }

  #end(lease: Lease): Promise<void> | undefined {
    const { host, connection, mayHoldLocks, lockPlace, changesCatalog } = lease;
    this.#leases.delete(connection);
    if (changesCatalog) this.#parts.onCatalogChange();
    if (mayHoldLocks) return this.#keepOrRelease({ host, connection }, lockPlace);
    this.#toPool(host, connection);
    return undefined;
  }

  async #keepOrRelease(
    { host, connection }: Acquired,
    place: (() => void) | undefined,
  ): Promise<void> {
    try {
      // Given up while it waits for its lock: nobody would know of the lock that it may get.
      const isGivenUp = ['busy', 'given up'].includes(connectionState(connection));
      const keeping = isGivenUp
        ? 'full'
        : await this.#parts.locks.keep(host, connection, place !== undefined);
      if (keeping === 'full') await host.pool.discard(connection);
      if (keeping === 'free') this.#toPool(host, connection);
    } finally {
      place?.();
    }
  }

  #toPool(host: Host, connection: Connection): void {
    const state = connectionState(connection);
    if (state === 'busy') void this.#toPoolWhenSettled(host, connection);
    else if (
      state === 'transaction' ||
      state === 'given up' ||
      this.#parts.sessionChanges.has(connection)
    ) {
      void host.pool.discard(connection);
    } else {
      // One that has ended, too: its pool finds out.
      host.pool.release(connection);
    }
  }

  // An error comes before the server says how it left the session; a closed stream, or a statement
  // that was given up, may still be running.
  async #toPoolWhenSettled(host: Host, connection: Connection): Promise<void> {
    if (await settled(connection, this.#parts.clock, SETTLE_MILLIS)) this.#toPool(host, connection);
    else await host.pool.discard(connection);
  }
}

import type { Balancer } from '../balancers/balancer.ts';
import type { Cluster } from '../hosts/cluster.ts';
import { findPrimary } from '../hosts/find-primary.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { PoolFullError, acquire } from './acquire.ts';
import type { Acquired } from './acquire.ts';
import { FallbackShare } from './fallback-share.ts';
import { Lease } from './lease.ts';
import type { Route, RouteRequest } from './route.ts';
import { isNonEmpty } from './route.ts';
import { Returns } from './returns.ts';
import type { ReturnsParts } from './returns.ts';
import { route } from './router.ts';
import type { RoutingPolicy } from './router.ts';

/** What a {@link Dispatcher} works with. */
export interface DispatcherParts extends ReturnsParts {
  readonly cluster: Cluster;
  readonly balancer: Balancer;
  readonly policy: RoutingPolicy & { readonly fallbackShare: number };
  /** Told when a statement may have changed the schema. */
  readonly onCatalogChange: () => void;
  /** How long a query may wait for a connection, over all hosts that are tried. */
  readonly acquireMillis: number;
}

/** Gives each request a connection of the right host, and takes it back. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #share: FallbackShare;
  readonly #returns: Returns;
  readonly #handedOut = new WeakSet<Connection>();
  readonly #leases = new WeakMap<Connection, Lease>();

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#returns = new Returns(parts);
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

  /**
   * Takes a connection for a request, until the lease is released: at once where the chosen host has
   * an idle one, else after a wait.
   */
  lease(request: RouteRequest): Lease | Promise<Lease> {
    const decided = this.route(request);
    const { hosts } = decided;
    if (!isNonEmpty(hosts)) return this.#leaseSlowly(request, undefined);

    const host = hosts.length === 1 ? hosts[0] : this.#parts.balancer.pick(hosts);
    const connection = host.pool.takeNow();
    if (connection === undefined) return this.#leaseSlowly(request, host);
    return this.#wrap(decided, { host, connection }, this.#parts.acquireMillis);
  }

  async #leaseSlowly(request: RouteRequest, chosen: Host | undefined): Promise<Lease> {
    const { acquireMillis, clock } = this.#parts;
    const deadline = clock.now() + acquireMillis;
    const { route, ...taken } = await this.acquire(request, acquireMillis, chosen);
    return this.#wrap(route, taken, deadline - clock.now());
  }

  #wrap(route: Route, { host, connection, leave }: Acquired, millisLeft: number): Lease {
    const lease = new Lease(route, host, connection, this.#parts.clock, (ended) => {
      leave?.();
      return this.#takeBack(ended);
    });
    lease.acquireMillisLeft = millisLeft;
    this.#leases.set(connection, lease);
    return lease;
  }

  /** Wraps a connection that goes back to no pool when the lease ends. */
  adopt(route: Route, { host, connection }: Acquired, onEnd: () => void): Lease {
    const lease = new Lease(route, host, connection, this.#parts.clock, (ended) => {
      this.#leases.delete(ended.connection);
      if (ended.isReleased) onEnd();
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

  /**
   * Takes a connection without a lease: for the caller to wrap or to release to its host's pool.
   *
   * @param chosen the host that the balancer has picked already.
   */
  async acquire(
    request: RouteRequest,
    budgetMillis: number = this.#parts.acquireMillis,
    chosen?: Host,
  ): Promise<Acquired & { readonly route: Route }> {
    const { cluster, balancer, clock } = this.#parts;
    const parts = { all: cluster.hosts, balancer, clock, share: this.#share };
    const deadline = clock.now() + budgetMillis;

    // Each turn learns a role that was only presumed, or is the last: so there are few.
    let failure: unknown;
    let first = chosen;
    for (;;) {
      const known = cluster.routable;
      const decided = this.route(request);
      try {
        const millis = deadline - clock.now();
        const taken = await acquire(decided, parts, millis, first);
        if (cluster.routable === known || this.#stillFits(request, decided, taken.host)) {
          return { ...taken, route: decided };
        }
        taken.leave?.();
        taken.host.pool.release(taken.connection);
      } catch (error) {
        if (error instanceof PoolFullError) throw error;
        failure = error;
      }

      first = undefined;
      if (decided.role === 'primary') await findPrimary(cluster, deadline - clock.now());
      // With no time left there would be nothing to say but that: what went wrong says more.
      const isLate = failure !== undefined && deadline - clock.now() < 1;
      if (cluster.routable === known || isLate) throw failure;
    }
  }

  /** Gives a connection back that was taken without a lease. */
  release(host: Host, connection: Connection): void {
    this.#returns.toPool(host, connection);
  }

  /** Notes that the application took a connection from a pool without a lease. */
  noteHandedOut(connection: Connection): void {
    this.#handedOut.add(connection);
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

    if (!this.#handedOut.delete(connection)) return false;
    const owner = this.#parts.cluster.hosts.find((host) => host.pool.isUsing(connection));
    if (owner !== undefined) this.#returns.toPool(owner, connection);
    return owner !== undefined;
  }

  // A replica that turns out to be the primary is no fallback yet: other replicas come first.
  #stillFits(request: RouteRequest, decided: Route, host: Host): boolean {
    const { hosts, fallback } = this.route(request);
    return hosts.includes(host) || (fallback.includes(host) && decided.fallback.includes(host));
  }

  #takeBack(lease: Lease): Promise<void> | undefined {
    this.#leases.delete(lease.connection);
    if (lease.changesCatalog) this.#parts.onCatalogChange();
    return this.#returns.takeBack(lease);
  }
}

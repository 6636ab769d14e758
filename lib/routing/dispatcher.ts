import type { Connection, Host } from '../hosts/host.ts';
import type { Session } from '../consistency/session.ts';
import type { WantedState } from '../state/wanted-state.ts';
import type { Acquired } from './acquire.ts';
import type { FinderParts, Found } from './connection-finder.ts';
import { ConnectionFinder } from './connection-finder.ts';
import { Lease } from './lease.ts';
import type { Route, RouteRequest } from './route.ts';
import { isNonEmpty } from './route.ts';
import { Returns } from './returns.ts';
import { noteUncaptured } from './uncaptured.ts';
import type { ReturnsParts } from './returns.ts';
import { mustWaitInPool, waitInPool } from './wait-in-pool.ts';

/** What a {@link Dispatcher} works with. */
export interface DispatcherParts extends ReturnsParts, FinderParts {
  /** Told when a statement may have changed the schema. */
  readonly onCatalogChange: () => void;
  /** How long a query may wait for a connection, over all hosts that are tried. */
  readonly acquireMillis: number;
}

/** Gives each request a connection of the right host, and takes it back. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #finder: ConnectionFinder;
  readonly #returns: Returns;
  readonly #handedOut = new WeakMap<Connection, Session>();
  readonly #leases = new WeakMap<Connection, Lease>();

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#returns = new Returns(parts);
    this.#finder = new ConnectionFinder(parts);
  }

  /** The lease that a connection is in use under. */
  leaseOf(connection: Connection): Lease | undefined {
    return this.#leases.get(connection);
  }

  /** Decides where a request may go, without taking a connection. */
  route(request: RouteRequest): Route {
    return this.#finder.route(request);
  }

  /**
   * Takes a connection for a request, until the lease is released: at once where the chosen host has
   * an idle one, else after a wait.
   */
  lease(request: RouteRequest): Lease | Promise<Lease> {
    const decided = this.route(request);
    const { hosts } = decided;
    if (!isNonEmpty(hosts)) return this.#leaseSlowly(request);
    const host = hosts.length === 1 ? hosts[0] : this.#parts.balancer.pick(hosts);
    const connection = host.pool.takeNow(this.#parts.states.changeCount(request.state));
    if (connection === undefined) return this.#leaseAt(host, decided, request);
    const isRight = this.#finder.isRight(decided, host, connection, request.need);
    if (!isRight) return this.#leaseSlowly(request);
    return this.#wrap(request, decided, { host, connection }, this.#parts.acquireMillis);
  }

  async #leaseAt(host: Host, decided: Route, request: RouteRequest): Promise<Lease> {
    const { acquireMillis, clock } = this.#parts;
    if (!mustWaitInPool(host, decided, request, this.#parts))
      return this.#leaseSlowly(request, host);
    const deadline = clock.now() + acquireMillis;
    const connection = await waitInPool(host, decided, request, this.#parts, this.#finder);
    const left = deadline - clock.now();
    if (connection === undefined) return this.#leaseSlowly(request, undefined, left);
    return this.#wrap(request, decided, { host, connection }, left);
  }

  async #leaseSlowly(request: RouteRequest, chosen?: Host, budget?: number): Promise<Lease> {
    const { acquireMillis, clock } = this.#parts;
    const deadline = clock.now() + (budget ?? acquireMillis);
    const { route, ...taken } = await this.acquire(request, budget, chosen);
    return this.#wrap(request, route, taken, deadline - clock.now());
  }

  #wrap(
    request: RouteRequest,
    route: Route,
    { host, connection, leave }: Acquired,
    millisLeft: number,
  ): Lease {
    const lease = new Lease(route, host, connection, this.#parts.clock, this.#giveBack);
    lease.leave = leave;
    lease.request = request;
    lease.session = request.session;
    lease.isTracked = request.isTracked === true;
    lease.need = request.need;
    lease.acquireMillisLeft = millisLeft;
    lease.state = request.state;
    this.#leases.set(connection, lease);
    this.#parts.states.want(connection, lease.state);
    return lease;
  }

  /** Wraps a connection that goes back to no pool when the lease ends. */
  adopt(
    route: Route,
    { host, connection }: Acquired,
    { session, state }: Pick<RouteRequest, 'session' | 'state'>,
    onEnd: () => void,
  ): Lease {
    const lease = new Lease(route, host, connection, this.#parts.clock, (ended) => {
      this.#leases.delete(ended.connection);
      this.#parts.states.leave(ended.connection);
      noteUncaptured(ended);
      if (ended.isReleased) onEnd();
      return undefined;
    });
    lease.session = session;
    lease.state = state;
    this.#leases.set(connection, lease);
    this.#parts.states.want(connection, state);
    return lease;
  }

  /** Gives the connection of a lease back, which goes on with another one as soon as it has that. */
  letGo(lease: Lease): void {
    lease.letGo();
    // Who gives the query up meanwhile knows no other connection.
    if (lease.isLoose) this.#leases.set(lease, lease);
  }

  /** Goes on with a lease on another host. */
  move(lease: Lease, next: Acquired): void {
    lease.move(next);
    this.#leases.set(next.connection, lease);
    this.#parts.states.want(next.connection, lease.state);
  }

  /**
   * Takes a connection without a lease: for the caller to wrap or to release to its host's pool.
   *
   * @param chosen the host that the balancer has picked already.
   * @param tried hosts that are not to be asked again.
   * @throws {NoHostAvailableError} when no host can serve in time.
   */
  acquire(
    request: RouteRequest,
    budgetMillis: number = this.#parts.acquireMillis,
    chosen?: Host,
    tried?: ReadonlySet<Host>,
  ): Promise<Found> {
    return this.#finder.find(request, budgetMillis, chosen, tried);
  }

  /** Gives a connection back that was taken without a lease. */
  release(host: Host, connection: Connection): void {
    this.#returns.toPool(host, connection);
  }

  /** Notes that the application took a connection from a pool without a lease. */
  noteHandedOut(connection: Connection, session: Session, state?: WantedState): void {
    this.#handedOut.set(connection, session);
    this.#parts.states.want(connection, state);
  }

  /** The session that took a connection from a pool without a lease. */
  handedOutTo(connection: Connection): Session | undefined {
    return this.#handedOut.get(connection);
  }

  /**
   * Gives back a connection that the application took for itself.
   *
   * @returns false when it isn't the application's: given back already, or a query's.
   */
  releaseTaken(connection: Connection): boolean {
    const lease = this.#leases.get(connection);
    if (lease !== undefined) {
      if (!lease.isTaken) return false;
      this.#parts.states.doubtLeftovers(connection);
      void lease.release();
      return true;
    }
    const session = this.#handedOut.get(connection);
    if (session === undefined) return false;
    this.#handedOut.delete(connection);
    // What was run on it, nobody knows.
    session.doubt();
    this.#parts.states.doubtLeftovers(connection);
    const owner = this.#parts.cluster.hosts.find((host) => host.pool.isUsing(connection));
    if (owner !== undefined) this.#returns.toPool(owner, connection);
    return owner !== undefined;
  }

  // One for all leases.
  readonly #giveBack = (lease: Lease): Promise<void> | undefined => {
    lease.leave?.();
    this.#leases.delete(lease.connection);
    noteUncaptured(lease);
    if (lease.changesCatalog) this.#parts.onCatalogChange();
    return this.#returns.takeBack(lease);
  };
}

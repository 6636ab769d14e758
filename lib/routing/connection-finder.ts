import type { Balancer } from '../balancers/balancer.ts';
import type { Clock } from '../clock.ts';
import { asError, NoHostAvailableError } from '../errors.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { acquire } from './acquire.ts';
import type { Acquired } from './acquire.ts';
import type { HostEvidence } from './failure.ts';
import { explained } from './explained.ts';
import { judgeConnectError } from './failure.ts';
import type { FallbackShare } from './fallback-share.ts';
import { fallbackShareOf, NeedlessWait } from './fallback-share.ts';
import type { SessionStates } from '../state/session-states.ts';
import type { Need } from './need.ts';
import { noHost } from './no-host.ts';
import type { Route, RouteRequest } from './route.ts';
import { isNonEmpty } from './route.ts';
import { route } from './router.ts';
import { staleReplicas } from './stale-replicas.ts';
import { without } from './without.ts';
import type { RoutingPolicy } from './router.ts';

// A wait that took so much longer says nothing of the servers; so long they have after it.
const HELD_UP_MILLIS = 1000;

// How soon a read that waits for a replica to catch up looks again.
const LOOK_MILLIS = 10;

// After these a host, or its successor, may give a connection soon.
const passing: ReadonlySet<HostEvidence> = new Set(['overloaded', 'starting', 'network']);

/** What a {@link ConnectionFinder} works with. */
export interface FinderParts {
  readonly cluster: Cluster;
  readonly balancer: Balancer;
  readonly policy: RoutingPolicy & { readonly fallbackShare: number };
  readonly clock: Clock;
  /** How long a query may wait for a primary, while there is none. */
  readonly failoverMillis: number;
  readonly states: SessionStates;
  /** What other clients of the same pools have a part in; without it the client is alone. */
  readonly share?: FallbackShare | undefined;
  /** Ends waits for a connection. */
  readonly signal?: AbortSignal | undefined;
}

/** A connection, and the decision that led to it. */
export interface Found extends Acquired {
  readonly route: Route;
}

/** Finds a connection for a request, waiting for hosts that may serve soon. */
export class ConnectionFinder {
  readonly #parts: FinderParts;
  readonly #share: FallbackShare;

  constructor(parts: FinderParts) {
    this.#parts = parts;
    const { cluster, policy, clock, share } = parts;
    this.#share = share ?? fallbackShareOf(cluster, policy.fallbackShare, clock);
  }

  /** Decides where a request may go, without taking a connection. */
  route(request: RouteRequest): Route {
    return route(request, this.#parts.cluster.routable, this.#parts.policy);
  }

  /**
   * Takes a connection for a request.
   *
   * Where no host can serve, but one may soon (none was looked at yet, or a failover is under way),
   * that is waited for.
   *
   * @param chosen the host that the balancer has picked already.
   * @param tried hosts that are not to be asked again.
   * @throws {NoHostAvailableError} when no host can serve in time.
   */
  async find(
    request: RouteRequest,
    budgetMillis: number,
    chosen?: Host,
    tried?: ReadonlySet<Host>,
  ): Promise<Found> {
    const { cluster, balancer, clock, failoverMillis, states, signal } = this.#parts;
    const changes = states.changeCount(request.state);
    const parts = { cluster, balancer, clock, changes, signal, share: this.#share };
    let begun = clock.now();
    let deadline = begun + budgetMillis;

    let failure: Error | undefined;
    let first = chosen;
    for (;;) {
      const { count } = cluster.changes;
      const picked = first;
      first = undefined;
      const decided = without(this.route(request), tried);
      const { need } = request;
      const hasHosts = [decided.hosts, decided.fallback, decided.lastResort].some(isNonEmpty);
      // A replica may catch up in the time that the read may wait for one.
      const waitsForReplica = decided.isPastReplicas === true && need?.mayWait(deadline) === true;
      if (hasHosts && !waitsForReplica && this.#isReady(decided)) {
        try {
          const now = clock.now();
          // A server that has no connection left is waited for no longer than a primary to come.
          const patient = { ...parts, refusedMillis: begun + failoverMillis - now };
          const taken = await acquire(decided, patient, deadline - now, picked);
          if (!this.stillServes(request, decided, taken.host)) {
            taken.host.pool.release(taken.connection);
          } else if (this.isRight(decided, taken.host, taken.connection, need)) {
            return { ...taken, route: explained(decided, taken.host) };
          }
          taken.leave?.();
        } catch (error) {
          if (error instanceof NeedlessWait) continue;
          const { host: evidence } = judgeConnectError(error);
          // A server that shuts down, or a pooler before one that is gone, says so in words of its own.
          if (!passing.has(evidence) && !(error instanceof NoHostAvailableError)) throw error;
          failure = asError(error);
          // Its gate says when it may be asked again, and a connection that is given back comes first.
          if (evidence === 'overloaded' && clock.now() - begun < failoverMillis) continue;
        }
      }

      const mayCatchUp = decided.isPastReplicas === true;
      const patience =
        mayCatchUp && need !== undefined
          ? need.giveUpAt
          : begun + (this.#maySoon(decided, tried) ? failoverMillis : 0);
      const waitMillis = Math.min(deadline, cluster.isSettled ? patience : deadline) - clock.now();
      const asked = clock.now();
      if (waitMillis < 1 || cluster.changes.hasEnded) throw this.#unserved(request, failure);
      // Nobody tells of a replica that has caught up.
      const lookMillis = mayCatchUp ? Math.min(waitMillis, LOOK_MILLIS) : waitMillis;
      const hasChanged = await cluster.changes.after(count, lookMillis);
      need?.lookAgain();
      if (!hasChanged && !mayCatchUp) throw this.#unserved(request, failure);
      const now = clock.now();
      if (now - asked > waitMillis + HELD_UP_MILLIS) {
        // The process was held up, and what changed first need not be all that has changed meanwhile.
        deadline = Math.max(deadline, now + HELD_UP_MILLIS);
        begun = Math.max(begun, now + HELD_UP_MILLIS - failoverMillis);
      }
    }
  }

  #unserved({ intent, need }: RouteRequest, failure: Error | undefined): Error {
    const { cluster } = this.#parts;
    const { replicas } = cluster.routable;
    // That the primary is gone is half of it where replicas are there, and behind.
    const isForNobody = failure === undefined || failure instanceof NoHostAvailableError;
    if (need !== undefined && isNonEmpty(replicas) && isForNobody) {
      return staleReplicas(replicas, need, failure);
    }
    return failure ?? noHost(intent, cluster, []);
  }

  // Whether a host may yet serve: a primary to come, or one of the hosts about which a probe has to say.
  #maySoon({ awaitsPrimary, role }: Route, tried: ReadonlySet<Host> | undefined): boolean {
    const { elected, hosts } = this.#parts.cluster;
    // One that is well and has failed it gets no successor.
    const isSpent = elected?.health.state === 'up' && tried?.has(elected) === true;
    if (awaitsPrimary && elected?.isDraining !== true && !isSpent) return true;
    return hosts.some(
      (host) =>
        !host.isDraining &&
        tried?.has(host) !== true &&
        (role === 'any' || host.role === role) &&
        (host.health.state === 'unknown' || host.health.state === 'suspect'),
    );
  }

  /**
   * Whether a host may still serve: it may have taken long to get the connection, and the cluster goes
   * on meanwhile. One that is drained by hand still serves those who waited for it already.
   */
  stillServes(request: RouteRequest, { role }: Route, host: Host): boolean {
    if (host.isDraining) return true;
    if (role === 'primary') return this.route(request).hosts.includes(host);
    return role === 'any' || host.exclusion === undefined;
  }

  // Before each host was looked at once, another one may be the primary, or a replica may be well.
  #isReady({ role, hosts }: Route): boolean {
    return this.#parts.cluster.isSettled || (role !== 'primary' && isNonEmpty(hosts));
  }

  /**
   * Says whether a connection is of the server that the route means, and ends it where it is not: a
   * name can stand for several servers, and only the primary may write, or has all that was written.
   */
  isRight({ role }: Route, host: Host, connection: Connection, need?: Need): boolean {
    const mustBePrimary = role === 'primary' || (need !== undefined && host.role === 'primary');
    if (!mustBePrimary || host.isPrimaryConnection(connection)) return true;

    void host.pool.discard(connection);
    this.#parts.cluster.doubt(host, true);
    return false;
  }
}

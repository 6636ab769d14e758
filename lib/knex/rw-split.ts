import { systemClock } from '../clock.ts';
import type { RWSplitSettings } from '../config/settings.ts';
import type { RWSplitEmitter } from '../events.ts';

import type { Cluster } from '../hosts/cluster.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { notePooler } from '../hosts/pooled-hosts.ts';
import type { ServerFacts } from '../hosts/server-facts.ts';
import { Dispatcher } from '../routing/dispatcher.ts';
import type { Lease } from '../routing/lease.ts';
import { LockKeeper } from '../routing/lock-keeper.ts';
import { Misroutes } from '../routing/misroute.ts';
import type { RouteRequest } from '../routing/route.ts';
import { StalenessWarning } from '../routing/staleness-warning.ts';
import { SessionChanges } from '../routing/session-changes.ts';
import type { Intents } from '../sql/intents.ts';
import { asKnexError } from './acquire-error.ts';
import type { CancellingDriver } from './cancel-request.ts';
import { sendCancelRequest } from './cancel-request.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { createIntents } from './create-intents.ts';
import { debugHost, debugRoute } from './debug.ts';
import { HostMaker } from './host-maker.ts';
import type { KnexClasses, PgClient } from './internals.ts';
import { holdsLocks } from './lock-query.ts';
import { makeBalancer } from './make-balancer.ts';
import { lacksPosition, settle } from './settle.ts';
import type { SplitState } from './split-state.ts';

// How long a server may take to take a request to cancel.
const CANCEL_MILLIS = 1000;

/**
 * The splitting of one Knex client while its pools are open: its cluster and what it learnt of
 * statements.
 */
export class RWSplit {
  readonly state: SplitState;
  readonly settings: RWSplitSettings;
  readonly misroutes: Misroutes = new Misroutes(systemClock);
  readonly cluster: Cluster;
  readonly watch: ClusterWatch;
  readonly dispatcher: Dispatcher;
  readonly intents: Intents;
  readonly locks: LockKeeper;
  readonly sessionChanges: SessionChanges;
  readonly stalenessWarning: StalenessWarning;
  /** Whether a backslash is just that in the servers' plain string literals; unknown until one says so. */
  hasStandardStrings: boolean | undefined;
  /** When this client last changed the schema, on the clock. */
  schemaChangedAt: number = Number.NEGATIVE_INFINITY;
  readonly #client: PgClient;
  readonly #TimeoutError: KnexClasses['KnexTimeoutError'];
  #isDestroyed = false;

  constructor(
    client: PgClient,
    state: SplitState,
    settings: RWSplitSettings,
    { KnexTimeoutError, PgDialect }: KnexClasses,
  ) {
    const warn = (message: string): void => client.logger.warn?.(message);
    const maker = new HostMaker(
      client,
      settings,
      Reflect.get(PgDialect.prototype, 'validateConnection'),
      (host, facts) => this.#noteFacts(host, facts),
      (connection) => this.sessionChanges.spoil(connection),
    );

    this.#client = client;
    this.#TimeoutError = KnexTimeoutError;
    this.state = state;
    this.settings = settings;
    this.sessionChanges = new SessionChanges(warn);
    this.stalenessWarning = new StalenessWarning(systemClock, warn);
    this.watch = new ClusterWatch(client, settings, state.events, maker);
    this.cluster = this.watch.cluster;
    this.locks = new LockKeeper({
      max: this.cluster.hosts[0]?.pool.maximum ?? 1,
      holdsLocks,
      isSpoilt: (connection) => this.sessionChanges.has(connection),
      warn,
      clock: systemClock,
      waitMillis: maker.acquireMillis,
    });
    this.dispatcher = new Dispatcher({
      cluster: this.cluster,
      balancer: makeBalancer(settings.balancer),
      policy: settings,
      clock: systemClock,
      locks: this.locks,
      sessionChanges: this.sessionChanges,
      states: state.states,
      onCatalogChange: () => this.forgetCatalog(),
      acquireMillis: maker.acquireMillis,
      failoverMillis: settings.failover.waitMillis,
    });
    this.intents = createIntents(client, this);
  }

  get events(): RWSplitEmitter {
    return this.state.events;
  }

  /**
   * Takes a connection for a request: at once where one is idle, else after a wait. The first one
   * asks for replicas that only a function knows.
   */
  lease(request: RouteRequest): Lease | Promise<Lease> {
    if (this.#isDestroyed) throw new Error('Unable to acquire a connection');
    const ready = this.watch.start();
    if (ready !== undefined || lacksPosition(request, this)) {
      return this.#leaseSlowly(this.#prepare(request, ready));
    }
    const lease = this.dispatcher.lease(request);
    if (lease instanceof Promise) return this.#leaseSlowly(lease);
    this.announce(lease);
    return lease;
  }

  async #prepare(request: RouteRequest, ready: Promise<void> | undefined): Promise<Lease> {
    await ready;
    const isLacking = lacksPosition(request, this);
    return this.dispatcher.lease(isLacking ? await settle(this, request) : request);
  }

  async #leaseSlowly(promise: Promise<Lease>): Promise<Lease> {
    try {
      const lease = await promise;
      this.announce(lease);
      return lease;
    } catch (error) {
      if (this.#isDestroyed) {
        throw new Error('Unable to acquire a connection', { cause: error });
      }
      throw asKnexError(error, this.#client, this.#TimeoutError);
    }
  }

  /** Ends what runs on a connection, and uses it no more: nobody waits for the answer. */
  abandon(connection: Connection): void {
    this.sessionChanges.spoil(connection);
    const driver = this.#client.driver as CancellingDriver;
    sendCancelRequest(driver, connection, CANCEL_MILLIS).catch(() => undefined);
  }

  /** Forgets what was learnt of the schema, which this client may have changed. */
  forgetCatalog(): void {
    this.intents.forget();
    this.misroutes.forget();
    this.schemaChangedAt = systemClock.now();
  }

  /** Tells listeners and the debug log where a request goes. */
  announce({ host, route }: Lease): void {
    if (debugRoute.enabled) debugRoute('%s: %s (%s)', host.name, route.intent, route.reason);
    if (this.events.listenerCount('route') === 0) return;

    const { intent, reason } = route;
    this.events.tell('route', { host: host.name, role: host.role, intent, reason });
  }

  /**
   * Closes every connection. What is in use is waited for, as in Knex, but not for ever: on a host
   * that answers for as long as a query may wait for a connection, else for `hangMillis`.
   */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all([this.locks.destroy(), this.watch.destroy()]);
  }

  #noteFacts(
    host: Host,
    { role, hasStandardStrings, server, isPooled, replayed }: ServerFacts,
  ): void {
    if (isPooled !== undefined) notePooler(host, isPooled);
    this.cluster.positions.restart(server, replayed);
    // One server that says no is enough.
    if (this.hasStandardStrings !== false) this.hasStandardStrings = hasStandardStrings;
    // The name may stand for several servers, or the probe has yet to hear of it: it has to say.
    const probed = host.report?.server;
    const isOther = server !== undefined && probed !== undefined && server !== probed;
    const hasOtherRole = role !== undefined && host.isRoleObserved && host.role !== role;
    if (!hasOtherRole && !(isOther && host.role === 'primary')) return;

    debugHost('%s: a connection is one to a %s, %s, not to %s', host.name, role, server, probed);
    this.cluster.doubt(host, true);
  }
}

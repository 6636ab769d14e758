import { systemClock } from '../clock.ts';
import type { RWSplitSettings } from '../config/settings.ts';
import type { RWSplitEmitter } from '../events.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Connection } from '../hosts/host.ts';
import { Dispatcher } from '../routing/dispatcher.ts';
import { isReusable } from '../routing/is-reusable.ts';
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
import type { ClusterPools } from './cluster-pools.ts';
import { ownPools } from './cluster-pools.ts';
import type { ClusterWatch } from './cluster-watch.ts';
import { createIntents } from './create-intents.ts';
import { debugRoute } from './debug.ts';
import type { KnexClasses, PgClient } from './internals.ts';
import { joinPools } from './join-pools.ts';
import { lockQuestion } from './lock-query.ts';
import { makeBalancer } from './make-balancer.ts';
import type { Membership } from './membership.ts';
import { Preparation } from './preparation.ts';
import { lacksPosition, settle } from './settle.ts';
import { SharedDispatcher } from './shared-dispatcher.ts';
import type { SplitState } from './split-state.ts';

// How long a server may take to take a request to cancel.
const CANCEL_MILLIS = 1000;

/** The splitting of one Knex client while its pools are open, and what it learnt of statements. */
export class RWSplit {
  readonly state: SplitState;
  readonly settings: RWSplitSettings;
  /** The client's part in pools that it shares with others; undefined where it has its own. */
  readonly membership: Membership | undefined;
  readonly misroutes: Misroutes = new Misroutes(systemClock);
  readonly cluster: Cluster;
  readonly watch: ClusterWatch;
  readonly dispatcher: Dispatcher;
  readonly intents: Intents;
  readonly locks: LockKeeper;
  readonly sessionChanges: SessionChanges;
  readonly stalenessWarning: StalenessWarning;
  readonly preparation: Preparation | false;
  /** When this client last changed the schema, on the clock. */
  schemaChangedAt: number = Number.NEGATIVE_INFINITY;
  readonly #client: PgClient;
  readonly #TimeoutError: KnexClasses['KnexTimeoutError'];
  readonly #pools: ClusterPools;
  #destroying: Promise<void> | undefined;

  constructor(
    client: PgClient,
    state: SplitState,
    settings: RWSplitSettings,
    classes: KnexClasses,
  ) {
    const warn = (message: string): void => client.logger.warn?.(message);
    // One that can't be made is refused before anything is shared.
    const balancer = makeBalancer(settings.balancer);
    this.membership = joinPools(client, state, settings, classes);
    this.#pools =
      this.membership?.shared.pools ?? ownPools(client, settings, state.events, classes);
    const { acquireMillis } = this.#pools;
    if (this.membership === undefined) state.states.onUse = () => this.#pools.renew(state.states);

    this.#client = client;
    this.#TimeoutError = classes.KnexTimeoutError;
    this.state = state;
    this.settings = settings;
    this.sessionChanges = new SessionChanges(warn, this.#pools.spoilt);
    this.stalenessWarning = new StalenessWarning(systemClock, warn);
    this.watch = this.#pools.watch;
    this.cluster = this.#pools.cluster;
    this.preparation = settings.prepare && new Preparation(this, settings.prepare.max);
    const { sessionChanges } = this;
    const reuse = { clock: systemClock, sessionChanges, states: state.states };
    this.locks = new LockKeeper({
      max: this.cluster.hosts[0]?.pool.maximum ?? 1,
      holdsLocks: lockQuestion(state.states),
      mend: (connection) => state.states.mend(connection),
      isReusable: (connection) => isReusable(connection, reuse),
      warn,
      clock: systemClock,
      waitMillis: acquireMillis,
    });
    const parts = {
      ...reuse,
      cluster: this.cluster,
      balancer,
      policy: settings,
      locks: this.locks,
      onCatalogChange: () => this.forgetCatalog(),
      acquireMillis,
      failoverMillis: settings.failover.waitMillis,
    };
    this.dispatcher =
      this.membership === undefined
        ? new Dispatcher(parts)
        : new SharedDispatcher(parts, this.membership);
    this.intents = createIntents(client, this);
  }

  get events(): RWSplitEmitter {
    return this.state.events;
  }

  /** Whether a backslash is just that in the servers' plain string literals; unknown until one says so. */
  get hasStandardStrings(): boolean | undefined {
    return this.#pools.hasStandardStrings;
  }

  /**
   * Takes a connection for a request: at once where one is idle, else after a wait. The first one
   * asks for replicas that only a function knows.
   */
  lease(request: RouteRequest): Lease | Promise<Lease> {
    if (this.#destroying !== undefined) throw new Error('Unable to acquire a connection');
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
      const lease = await this.#whileOpen(promise);
      this.announce(lease);
      return lease;
    } catch (error) {
      if (this.#destroying !== undefined) {
        throw new Error('Unable to acquire a connection', { cause: error });
      }
      throw asKnexError(error, this.#client, this.#TimeoutError);
    }
  }

  // Pools that others share stay open: nobody turns this client's statements away but itself.
  #whileOpen(promise: Promise<Lease>): Promise<Lease> {
    if (this.membership === undefined) return promise;
    return this.membership.until(
      () => promise,
      (late) => void late.release(),
    );
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
   * Closes every connection, or leaves those of shared pools to the other clients. What is in use is
   * waited for, as in Knex, but not for ever: on a host that answers for as long as a query may wait
   * for a connection, else for `hangMillis`.
   */
  destroy(): Promise<void> {
    this.#destroying ??= this.#end();
    return this.#destroying;
  }

  async #end(): Promise<void> {
    const unlocked = this.locks.destroy();
    await Promise.all([unlocked, this.membership?.leave() ?? this.watch.destroy()]);
  }
}

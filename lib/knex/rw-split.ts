import { systemClock } from '../clock.ts';
import type { RWSplitSettings } from '../config/settings.ts';
import { asError, ConfigError, ReadOnlyHostError } from '../errors.ts';
import type { RWSplitEmitter } from '../events.ts';
import { Cluster } from '../hosts/cluster.ts';
import type { Host } from '../hosts/host.ts';
import type { ServerFacts } from '../hosts/server-facts.ts';
import { Dispatcher } from '../routing/dispatcher.ts';
import { PoolFullError } from '../routing/acquire.ts';
import type { Lease } from '../routing/lease.ts';
import { LockKeeper } from '../routing/lock-keeper.ts';
import { Misroutes } from '../routing/misroute.ts';
import type { RouteRequest } from '../routing/route.ts';
import { SessionChanges } from '../routing/session-changes.ts';
import type { Intents } from '../sql/intents.ts';
import { createIntents } from './create-intents.ts';
import { debugHost, debugRoute } from './debug.ts';
import { HostMaker } from './host-maker.ts';
import type { KnexClasses, PgClient } from './internals.ts';
import { holdsLocks } from './lock-query.ts';
import { makeBalancer } from './make-balancer.ts';
import { ReplicaDiscovery } from './replica-discovery.ts';

/**
 * The splitting of one Knex client while its pools are open: its cluster and what it learnt of
 * statements.
 */
export class RWSplit {
  readonly settings: RWSplitSettings;
  readonly events: RWSplitEmitter;
  readonly misroutes: Misroutes = new Misroutes(systemClock);
  readonly cluster: Cluster;
  readonly dispatcher: Dispatcher;
  readonly intents: Intents;
  readonly locks: LockKeeper;
  readonly sessionChanges: SessionChanges;
  /** Whether a backslash is just that in the servers' plain string literals; unknown until one says so. */
  hasStandardStrings: boolean | undefined;
  /** When this client last changed the schema, on the clock. */
  schemaChangedAt: number = Number.NEGATIVE_INFINITY;
  readonly #client: PgClient;
  readonly #TimeoutError: KnexClasses['KnexTimeoutError'];
  readonly #discovery: ReplicaDiscovery | undefined;
  #isDestroyed = false;

  constructor(
    client: PgClient,
    settings: RWSplitSettings,
    events: RWSplitEmitter,
    { KnexTimeoutError, PgDialect }: KnexClasses,
  ) {
    const { primary, replicas, primaryReads, balancer } = settings;
    const isAlone = typeof replicas !== 'function' && replicas.length === 0;
    const warn = (message: string): void => client.logger.warn?.(message);
    const maker = new HostMaker(
      client,
      settings,
      Reflect.get(PgDialect.prototype, 'validateConnection'),
      (host, facts) => this.#noteFacts(host, facts),
    );

    this.#client = client;
    this.#TimeoutError = KnexTimeoutError;
    this.settings = settings;
    this.events = events;
    this.sessionChanges = new SessionChanges(warn);
    this.cluster = new Cluster(
      primary,
      typeof replicas === 'function' ? [] : replicas,
      // Alone, the primary is what reads are for, and no fallback with a share.
      primaryReads > 0 || isAlone,
      this.events,
      maker.make,
    );
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
      balancer: makeBalancer(balancer),
      policy: settings,
      clock: systemClock,
      locks: this.locks,
      sessionChanges: this.sessionChanges,
      onCatalogChange: () => this.forgetCatalog(),
      acquireMillis: maker.acquireMillis,
    });
    this.#discovery =
      typeof replicas === 'function'
        ? new ReplicaDiscovery(replicas, this.cluster, this.events, maker.acquireMillis)
        : undefined;
    this.intents = createIntents(client, this);
  }

  /**
   * Takes a connection for a request: at once where one is idle, else after a wait. The first one
   * asks for replicas that only a function knows.
   */
  lease(request: RouteRequest): Lease | Promise<Lease> {
    if (this.#isDestroyed) throw new Error('Unable to acquire a connection');
    if (this.#discovery !== undefined && !this.#discovery.isDone) {
      return this.#leaseSlowly(this.#discovery.ask().then(() => this.dispatcher.lease(request)));
    }

    const lease = this.dispatcher.lease(request);
    if (lease instanceof Promise) return this.#leaseSlowly(lease);
    this.announce(lease);
    return lease;
  }

  async #leaseSlowly(promise: Promise<Lease>): Promise<Lease> {
    try {
      const lease = await promise;
      this.announce(lease);
      return lease;
    } catch (error) {
      throw this.#asKnexError(error);
    }
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

  /** Closes every connection; what is in use is waited for, as in Knex. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await this.locks.destroy();
    await Promise.all(this.cluster.hosts.map((host) => host.pool.destroy()));
  }

  // Applications know Knex's own errors for a full pool and one that is gone, and its warning.
  #asKnexError(error: unknown): unknown {
    if (this.#isDestroyed) return new Error('Unable to acquire a connection', { cause: error });
    // Those are about the query; no connection was asked for.
    if (error instanceof ReadOnlyHostError || error instanceof ConfigError) return error;
    const { stack, message } = asError(error);
    this.#client.logger.warn?.(`Acquire connection error: ${stack ?? message}`);
    if (!(error instanceof PoolFullError)) return error;

    return Object.assign(
      new this.#TimeoutError(
        `Knex: Timeout acquiring a connection. The pool is probably full. Are you missing a .transacting(trx) call? (${error.message})`,
      ),
      { cause: error },
    );
  }

  #noteFacts(host: Host, { role, hasStandardStrings }: ServerFacts): void {
    // One server that says no is enough.
    if (this.hasStandardStrings !== false) this.hasStandardStrings = hasStandardStrings;
    if (role === undefined) return;

    if (host.role !== role) debugHost('%s is a %s, not a %s', host.name, role, host.role);
    this.cluster.observeRole(host, role);
  }
}

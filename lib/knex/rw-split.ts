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
import { Monitor } from '../monitor/monitor.ts';
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
import { probeDialer } from './probe-dialer.ts';
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
  readonly monitor: Monitor;
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
  readonly #acquireMillis: number;
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

    this.#acquireMillis = maker.acquireMillis;
    this.#client = client;
    this.#TimeoutError = KnexTimeoutError;
    this.settings = settings;
    this.events = events;
    this.sessionChanges = new SessionChanges(warn);
    this.cluster = new Cluster({
      primary,
      replicas: typeof replicas === 'function' ? undefined : replicas,
      // Alone, the primary is what reads are for, and no fallback with a share.
      primaryReads: primaryReads > 0 || isAlone,
      maxLag: settings.maxLag,
      health: settings.health,
      events,
      clock: systemClock,
      make: maker.make,
    });
    this.monitor = new Monitor({
      cluster: this.cluster,
      settings: settings.health,
      clock: systemClock,
      random: Math.random,
      dialer: (host) => probeDialer(client, host),
    });
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
      failoverMillis: settings.failover.waitMillis,
    });
    this.#discovery =
      typeof replicas === 'function'
        ? new ReplicaDiscovery({
            list: replicas,
            cluster: this.cluster,
            remake: maker.remake,
            onChange: () => this.monitor.start(),
            events,
            clock: systemClock,
            intervalMillis: settings.discovery.intervalMillis,
            answerMillis: maker.acquireMillis,
          })
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
      return this.#leaseSlowly(this.prepare().then(() => this.dispatcher.lease(request)));
    }

    if (!this.monitor.isStarted) this.monitor.start();
    const lease = this.dispatcher.lease(request);
    if (lease instanceof Promise) return this.#leaseSlowly(lease);
    this.announce(lease);
    return lease;
  }

  /** Begins to watch the hosts, once all of them are known; at once where a list names them. */
  async prepare(): Promise<void> {
    await this.#discovery?.ask();
    if (!this.#isDestroyed) this.monitor.start();
  }

  /** Resolves once some host is known to be up, or after `millis`. */
  async whenUsable(millis: number): Promise<void> {
    const { changes } = this.cluster;
    const deadline = systemClock.now() + millis;
    if (!this.monitor.isStarted) await this.prepare();
    while (this.cluster.routable.usable.length === 0) {
      // oxlint-disable-next-line no-await-in-loop -- each turn waits for a change.
      if (!(await changes.after(changes.count, deadline - systemClock.now()))) return;
    }
  }

  /** Probes every host; says how many are up. */
  async checkNow(): Promise<number> {
    await this.prepare();
    return this.monitor.checkNow();
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

  /**
   * Closes every connection. What is in use is waited for, as in Knex, but not for ever: on a host
   * that answers for as long as a query may wait for a connection, else for `hangMillis`.
   */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#discovery?.destroy();
    this.monitor.destroy();
    const { hangMillis } = this.settings.health;
    const ends = this.cluster.hosts.map((host) => {
      const isWell = host.health.state === 'up' || host.health.state === 'unknown';
      const millis = isWell ? this.#acquireMillis : Math.min(hangMillis, this.#acquireMillis);
      return host.end(millis);
    });
    await Promise.all([this.locks.destroy(), ...ends]);
    this.cluster.changes.note();
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
    // The name may stand for several servers, or the probe has yet to hear of it: it has to say.
    if (role !== undefined && host.isRoleObserved && host.role !== role) {
      debugHost('%s: a connection is one to a %s, not to a %s', host.name, role, host.role);
      this.cluster.doubt(host, true);
    }
  }
}

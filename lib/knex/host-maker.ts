import type { HostSettings, RWSplitSettings } from '../config/settings.ts';
import type { HostRole } from '../events.ts';
import { Dialling } from '../hosts/dialling.ts';
import { isReachable } from '../hosts/health.ts';
import { Host } from '../hosts/host.ts';
import type { Connection } from '../hosts/host.ts';
import { systemClock } from '../clock.ts';
import type { ServerFacts } from '../hosts/server-facts.ts';
import { hostClient, hostPoolSettings, redirect } from './host-client.ts';
import type { CancellingDriver } from './cancel-request.ts';
import type { PgClient } from './internals.ts';
import { hooksOf } from './pool-hooks.ts';
import { PoolMaker } from './pool-maker.ts';

/** Makes the hosts of a cluster, each with a pool that dials as Knex does. */
export class HostMaker {
  readonly #client: PgClient;
  readonly #settings: RWSplitSettings;
  readonly #pools: PoolMaker;
  readonly #validateConnection: unknown;
  readonly #views = new WeakMap<Host, PgClient>();
  readonly #onFacts: (host: Host, facts: ServerFacts) => void;
  readonly #spoil: (connection: Connection) => void;

  /** @param validateConnection Knex's own, to be told from an application's. */
  constructor(
    client: PgClient,
    settings: RWSplitSettings,
    validateConnection: unknown,
    onFacts: (host: Host, facts: ServerFacts) => void,
    spoil: (connection: Connection) => void,
  ) {
    this.#client = client;
    this.#settings = settings;
    this.#pools = new PoolMaker(settings, client.driver as CancellingDriver);
    this.#validateConnection = validateConnection;
    this.#onFacts = onFacts;
    this.#spoil = spoil;
  }

  /** How long Knex lets a query wait for a connection. */
  get acquireMillis(): number {
    const { pool } = this.#settings.primary;
    return (this.#client.getPoolSettings(pool) as { acquireTimeoutMillis: number })
      .acquireTimeoutMillis;
  }

  /**
   * Checks a list of hosts before the first of them is made.
   *
   * @throws {ConfigError} when one of them can't be.
   */
  check(hosts: readonly HostSettings[]): void {
    this.#pools.check(hosts);
  }

  /** Makes one host; opens nothing. */
  readonly make = (settings: HostSettings, role: HostRole): Host => {
    const onFacts = (facts: ServerFacts): void => this.#onFacts(host, facts);
    const dialling = new Dialling();
    const view = hostClient(
      this.#client,
      settings,
      onFacts,
      dialling,
      this.#spoil,
      this.#settings.pooler,
    );
    const pool = this.#pools.make(
      settings,
      hostPoolSettings(
        view,
        { ...settings, pool: hooksOf(settings.pool, () => host) },
        onFacts,
        () => this.#publish(host, view),
        dialling,
        this.#validateConnection,
      ),
      () => isReachable(host.health),
    );
    const host: Host = new Host(settings, role, this.#settings.primaryReads, pool, systemClock);
    this.#views.set(host, view);
    return host;
  };

  /** Lets a host be dialled, weighed and chosen by what a list says of it anew. */
  readonly remake = (host: Host, settings: HostSettings): void => {
    const view = this.#views.get(host);
    if (view !== undefined) redirect(view, settings);
    host.reconfigure(settings);
  };

  // Applications read one version and one set of connection settings off the client: the primary's.
  #publish(host: Host, view: PgClient): void {
    const client = this.#client;
    const isPrimary = host.role === 'primary';
    if (view.version !== undefined && (isPrimary || client.version === undefined)) {
      client.version = view.version;
    }
    if (isPrimary && typeof host.settings.connection === 'function') {
      client.connectionSettings = view.connectionSettings;
    }
  }
}

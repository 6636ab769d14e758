import { hideValue } from '../config/connection-object.ts';
import type { ConnectionProvider, HostSettings } from '../config/settings.ts';
import type { Connection } from '../hosts/host.ts';
import type { PoolSettings } from '../hosts/pool.ts';
import { listenToServer, serverFacts } from '../hosts/server-facts.ts';
import type { ServerFacts } from '../hosts/server-facts.ts';
import type { PgClient } from './internals.ts';
import { outsideScopes } from './scope.ts';

/** A `pg` client, as far as dialling and cancelling need it. */
interface DriverClient {
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

interface Driver {
  readonly Client: new (settings: unknown) => Connection;
}

/** What to do when a server of the host says something of itself. */
export type OnServerFacts = (facts: ServerFacts) => void;

/**
 * Makes the view of a Knex client that dials one host and nothing else.
 *
 * It inherits from the client, so that whatever the application's own subclass overrides holds on
 * every host, and owns what Knex keeps for each server: connection settings and version.
 */
export function hostClient(client: PgClient, host: HostSettings, onFacts: OnServerFacts): PgClient {
  const { connection } = host;
  const isFunction = typeof connection === 'function';
  const driver = client.driver as Driver;

  return Object.create(client, {
    connectionSettings: own(isFunction ? undefined : connection),
    connectionConfigProvider: own(isFunction ? changeable(connection) : undefined),
    connectionConfigExpirationChecker: own(isFunction ? () => true : null),
    version: own(client.config.version),
    driver: own(Object.create(driver, { Client: own(listeningClient(driver, onFacts)) })),
  }) as PgClient;
}

/** The settings of a host's pool: Knex's own, with the server's role known before first use. */
export function hostPoolSettings(
  view: PgClient,
  host: HostSettings,
  onFacts: OnServerFacts,
  onConnect: () => void,
  validateConnection: unknown,
): PoolSettings<Connection> {
  const settings = view.getPoolSettings(host.pool) as PoolSettings<Connection>;
  const create = (): Promise<Connection> =>
    outsideScopes(async () => {
      const connection = await settings.create();
      await learnRole(connection, onFacts);
      onConnect();
      return connection;
    });
  return { ...settings, create, isUsable: quickCheck(view, host, validateConnection) };
}

/** A connection as Knex's pool marks it. */
interface MarkedConnection {
  readonly __knex__disposed?: unknown;
  readonly __knexLifetimeLimit?: number | undefined;
}

// All that Knex's own validation looks at, unless the application adds to it or credentials expire.
function quickCheck(
  view: PgClient,
  host: HostSettings,
  validateConnection: unknown,
): ((connection: Connection) => boolean) | undefined {
  if (host.pool.validate !== undefined || typeof host.connection === 'function') return undefined;

  return (connection) => {
    if (view.validateConnection !== validateConnection) return false;
    const { __knex__disposed, __knexLifetimeLimit }: MarkedConnection = connection;
    if (__knex__disposed !== undefined) return false;
    return __knexLifetimeLimit === undefined || performance.now() <= __knexLifetimeLimit;
  };
}

// `in_hot_standby` is reported from PostgreSQL 14 on; before that, and on other engines, ask.
async function learnRole(connection: Connection, onFacts: OnServerFacts): Promise<void> {
  const facts = serverFacts(connection);
  if (facts === undefined || facts.role !== undefined) return;

  try {
    const { rows } = await (connection as DriverClient).query(
      'select pg_is_in_recovery() as is_replica',
    );
    facts.role = rows[0]?.['is_replica'] === true ? 'replica' : 'primary';
  } catch {
    // An engine without the function has no roles to tell; the configured one stands.
    return;
  }
  onFacts(facts);
}

function listeningClient({ Client }: Driver, onFacts: OnServerFacts): Driver['Client'] {
  return class extends Client {
    constructor(settings: unknown) {
      super(settings);
      listenToServer(this, onFacts);
    }
  };
}

// Knex takes `expirationChecker` out of what a provider answers.
function changeable(provide: ConnectionProvider): ConnectionProvider {
  return async () => {
    const answer = await provide();
    return hideValue({ ...answer }, 'password', answer.password);
  };
}

function own(value: unknown): PropertyDescriptor {
  return { value, writable: true, enumerable: true, configurable: true };
}

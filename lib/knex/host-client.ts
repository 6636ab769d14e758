import { hideValue } from '../config/connection-object.ts';
import type { ConnectionProvider, HostSettings } from '../config/settings.ts';
import type { Dialling } from '../hosts/dialling.ts';
import type { Connection } from '../hosts/host.ts';
import type { PoolSettings } from '../hosts/pool-settings.ts';
import { listenToServer, serverFacts } from '../hosts/server-facts.ts';
import type { ServerFacts } from '../hosts/server-facts.ts';
import type { PgClient } from './internals.ts';
import { serverIdentity, serverIdentityParts } from '../hosts/server-identity.ts';
import { endOrSever, sever } from '../hosts/sever.ts';
import { systemClock } from '../clock.ts';
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
export function hostClient(
  client: PgClient,
  host: HostSettings,
  onFacts: OnServerFacts,
  dialling: Dialling,
): PgClient {
  const driver = client.driver as Driver;
  const view = Object.create(client, {
    connectionSettings: own(undefined),
    connectionConfigProvider: own(undefined),
    connectionConfigExpirationChecker: own(null),
    version: own(client.config.version),
    driver: own(Object.create(driver, { Client: own(listeningClient(driver, onFacts, dialling)) })),
  }) as PgClient;
  redirect(view, host);
  return view;
}

/** Lets the view of a host dial by other settings from here on. */
export function redirect(view: PgClient, { connection }: HostSettings): void {
  const isFunction = typeof connection === 'function';
  Object.assign(view, {
    connectionSettings: isFunction ? undefined : connection,
    connectionConfigProvider: isFunction ? changeable(connection) : undefined,
    connectionConfigExpirationChecker: isFunction ? () => true : null,
  });
}

/** The settings of a host's pool: Knex's own, with the server's role known before first use. */
export function hostPoolSettings(
  view: PgClient,
  host: HostSettings,
  onFacts: OnServerFacts,
  onConnect: () => void,
  dialling: Dialling,
  validateConnection: unknown,
): PoolSettings<Connection> {
  const settings = view.getPoolSettings(host.pool) as PoolSettings<Connection>;
  const create = (): Promise<Connection> =>
    outsideScopes(async () => {
      const connection = await settings.create();
      await learnInTime(connection, onFacts);
      dialling.finish(connection);
      onConnect();
      return connection;
    });
  const destroy = (connection: Connection): Promise<void> =>
    endOrSever(connection, () => settings.destroy(connection), systemClock);
  return {
    ...settings,
    create,
    destroy,
    isUsable: quickCheck(view, host, validateConnection),
    dialling,
  };
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

const WHO_ARE_YOU = `select pg_catalog.pg_is_in_recovery() as "isInRecovery", ${Object.entries(
  serverIdentityParts,
)
  .map(([name, expression]) => `${expression} as "${name}"`)
  .join(', ')}`;

const LEARN_MILLIS = 3000;

// pg's own time for a connection ends before this question: its answer can get lost, too.
async function learnInTime(connection: Connection, onFacts: OnServerFacts): Promise<void> {
  const late = (): Error =>
    Object.assign(new Error(`The server said nothing within ${LEARN_MILLIS} ms.`), {
      code: 'ETIMEDOUT',
    });
  const stopWaiting = systemClock.after(LEARN_MILLIS, () => sever(connection, late));
  try {
    await learnServer(connection, onFacts);
  } finally {
    stopWaiting();
  }
}

// `in_hot_standby` is reported from PostgreSQL 14 on; who the server is, no parameter tells.
async function learnServer(connection: Connection, onFacts: OnServerFacts): Promise<void> {
  const facts = serverFacts(connection);
  if (facts === undefined) return;

  try {
    const { rows } = await (connection as DriverClient).query(WHO_ARE_YOU);
    const [answer] = rows;
    if (answer === undefined) return;
    facts.server = serverIdentity(answer);
    facts.role ??= answer['isInRecovery'] === true ? 'replica' : 'primary';
  } catch (error) {
    if (serverFacts(connection)?.isEnded === true) throw error;
    // An engine without these functions has nothing of it to tell; the configured role stands.
    return;
  }
  onFacts(facts);
}

function listeningClient(
  { Client }: Driver,
  onFacts: OnServerFacts,
  dialling: Dialling,
): Driver['Client'] {
  return class extends Client {
    constructor(settings: unknown) {
      super(settings);
      listenToServer(this, onFacts, () => dialling.finish(this));
      dialling.begin(this);
    }
  };
}

// Knex takes `expirationChecker` out of what a provider answers.
function changeable(provide: ConnectionProvider): ConnectionProvider {
  return async () => {
    const answer = await inTime(provide());
    return hideValue({ ...answer }, 'password', answer.password);
  };
}

// pg's own time for a connection begins when it has its settings.
const PROVIDE_MILLIS = 5000;

async function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopWaiting = systemClock.after(PROVIDE_MILLIS, () => {
      reject(new Error(`The connection function did not answer within ${PROVIDE_MILLIS} ms.`));
    });
    answer.then(resolve, reject).finally(stopWaiting);
  });
}

function own(value: unknown): PropertyDescriptor {
  return { value, writable: true, enumerable: true, configurable: true };
}

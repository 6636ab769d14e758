import { hideValue } from '../config/connection-object.ts';
import type { ConnectionProvider, HostSettings } from '../config/settings.ts';
import type { Dialling } from '../hosts/dialling.ts';
import type { Connection } from '../hosts/host.ts';
import { watchPassword } from '../hosts/password-error.ts';
import type { PoolSettings } from '../hosts/pool-settings.ts';
import { listenToServer } from '../hosts/server-facts.ts';
import type { ServerSlot } from '../hosts/server-slot.ts';
import { dialSlot, inSlot } from './dial-slot.ts';
import type { PgClient } from './internals.ts';
import { joinWrites } from './join-writes.ts';
import type { OnServerFacts } from './learn-server.ts';
import { learnInTime } from './learn-server.ts';
import { endOrSever } from '../hosts/sever.ts';
import { systemClock } from '../clock.ts';
import { syncOf } from '../state/connection-sync.ts';
import type { PoolerSetting } from '../state/session-refusal.ts';
import { stateGuard } from '../state/state-guard.ts';
import type { Driver } from './pg-driver.ts';
import { outsideScopes } from './scope.ts';
import { syncedClient } from './synced-client.ts';

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
  spoil: (connection: Connection) => void,
  pooler: PoolerSetting,
): PgClient {
  const driver = client.driver as Driver;
  const refusal = stateGuard(host.name, pooler);
  const view = Object.create(client, {
    connectionSettings: own(undefined),
    connectionConfigProvider: own(undefined),
    connectionConfigExpirationChecker: own(null),
    version: own(client.config.version),
    driver: own(
      Object.create(driver, {
        Client: own(listeningClient(syncedClient(driver, spoil, refusal), onFacts, dialling)),
      }),
    ),
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
  // Before 3.2, Knex took its own `afterCreate` out only afterwards; tarn refuses it.
  const { afterCreate: _, ...settings } = view.getPoolSettings(
    host.pool,
  ) as PoolSettings<Connection> & { readonly afterCreate?: unknown };
  const create = (slot?: ServerSlot): Promise<Connection> =>
    outsideScopes(async () => {
      const connection = await inSlot(slot, () => settings.create());
      await learnInTime(connection, onFacts);
      syncOf(connection)?.reports.settle();
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

function listeningClient(
  Client: Driver['Client'],
  onFacts: OnServerFacts,
  dialling: Dialling,
): Driver['Client'] {
  return class extends Client {
    constructor(settings: unknown) {
      super(settings);
      watchPassword(this);
      listenToServer(this, onFacts, () => dialling.finish(this));
      dialling.begin(this);
      dialSlot()?.adopt(this);
    }

    // The driver tells of what went wrong, and leaves a socket open that the server waits at.
    override async connect(...args: readonly unknown[]): Promise<unknown> {
      try {
        const answer = await super.connect?.(...args);
        // By now it is the one that lasts: TLS has come in between, or has not.
        if (args.length === 0 && this.connection !== undefined) joinWrites(this.connection.stream);
        return answer;
      } catch (error) {
        this.connection?.stream.destroy();
        throw error;
      }
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

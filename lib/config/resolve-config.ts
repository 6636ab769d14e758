import type { Knex } from 'knex';
import { ConfigError } from '../errors.ts';
import { mergeConnections } from './connection-object.ts';
import { readAnyConnection } from './connection-options.ts';
import { completeConnection, createProvider } from './connection-provider.ts';
import { environmentDefaults, hostKey, hostName, unknownDefaults } from './host-key.ts';
import { invalidOption } from './invalid-option.ts';
import { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import type { RWSplitOptions } from './options.ts';
import { urlOf } from './parse-connection.ts';
import { namesSeveralHosts } from './plain-connection.ts';
import { mergePools } from './pool-options.ts';
import { readReplicaList } from './replica-list.ts';
import { requireAddresses } from './require-addresses.ts';
import type { ReplicaBase } from './resolve-replicas.ts';
import { checkPriority, resolveRouting } from './resolve-routing.ts';
import type { RWSplitSettings } from './settings.ts';
import { readCluster, type WrittenCluster } from './written-cluster.ts';
import { writeOptions } from './written-options.ts';

/** A configuration without enumerable passwords, and what it says of a cluster, if it does. */
export interface ResolvedConfig {
  readonly config: Knex.Config;
  /** Undefined for a plain client: one host and no `rwSplit`. */
  readonly settings: RWSplitSettings | undefined;
}

/**
 * Checks and completes the configuration that Knex hands to a client.
 *
 * The user's objects are left as they are; a plain configuration is returned itself. The result
 * may be resolved again, to the same settings.
 *
 * @throws {ConfigError} when an option is unknown or not allowed; nothing was opened.
 */
export function resolveConfig(config: Knex.Config): ResolvedConfig {
  const { rwSplit } = config;
  if (rwSplit === undefined && !namesSeveralHosts(config.connection)) return plain(config);
  // Beside `connection` Knex has refused it already, in its own words.
  if (config.connectionPool !== undefined) {
    throw new ConfigError(
      'connectionPool',
      'connectionPool cannot be used together with rwSplit, which keeps a pool for each host; write connection.',
    );
  }

  const cluster = readCluster(config.connection, 'connection');
  const options = withCluster(rwSplit, cluster);
  const reader = new OptionReader(options, 'rwSplit');
  const base = readBase(config, cluster);
  const { written, replicas } = readReplicaList(
    reader.read('replicas'),
    reader.pathOf('replicas'),
    base,
  );
  const routing = resolveRouting(reader);
  reader.finish();
  if (typeof replicas !== 'function') checkPriority(options.balancer, replicas.length);

  const { primary } = base;
  const isCounted = routing.maxPerServer !== undefined;
  const hosts = isCounted ? requireAddresses({ primary, replicas }) : { primary, replicas };
  const connection =
    typeof primary.connection === 'function' ? config.connection : primary.connection;
  return {
    config: {
      ...config,
      ...(connection === undefined ? {} : { connection }),
      rwSplit: writeOptions({ ...options, replicas: written }),
    },
    settings: Object.freeze({ ...routing, ...hosts }),
  };
}

// Knex takes a URL that `new URL()` refuses, such as one without a host, for a file of SQLite.
function plain(config: Knex.Config): ResolvedConfig {
  const url = urlOf(config.connection);
  if (url === undefined) return { config, settings: undefined };

  const connection = readAnyConnection(url, 'connection');
  return { config: { ...config, connection }, settings: undefined };
}

// What is written in `rwSplit` wins over what the URL says.
function withCluster(rwSplit: RWSplitOptions | undefined, cluster: WrittenCluster): RWSplitOptions {
  requireOptions(rwSplit);
  return {
    ...rwSplit,
    replicas: rwSplit?.replicas ?? cluster.others,
    target: rwSplit?.target ?? cluster.target,
    balancer: rwSplit?.balancer ?? cluster.balancer,
  };
}

function requireOptions(rwSplit: unknown): void {
  if (rwSplit === undefined || isOptionsObject(rwSplit)) return;
  throw invalidOption('rwSplit', rwSplit, 'an object of options');
}

function readBase(config: Knex.Config, { primary }: WrittenCluster): ReplicaBase {
  const isKnown = typeof primary !== 'function';
  const defaults = isKnown ? environmentDefaults(process.env) : unknownDefaults;
  const connection = isKnown
    ? completeConnection(primary)
    : createProvider(mergeConnections(), primary);

  return {
    primary: Object.freeze({
      name: (isKnown ? hostName(primary, defaults) : undefined) ?? 'primary',
      key: isKnown ? hostKey(primary, defaults) : undefined,
      connection,
      weight: 1,
      tags: Object.freeze([]),
      pool: mergePools(config.pool, undefined, 'pool'),
    }),
    pool: config.pool,
    defaults,
  };
}

import { ConfigError } from '../errors.ts';

/** What kind of cluster {@link startCluster} starts. */
export interface ClusterOptions {
  /**
   * How many streaming replicas: 0 to 8.
   * @default 2
   */
  readonly replicas?: number | undefined;
  /**
   * Whether a commit waits until every replica has the transaction's WAL on disk (not until it is
   * visible there). A commit then hangs while any replica is down. Holds until a promotion.
   * @default false
   */
  readonly synchronous?: boolean | undefined;
  /**
   * PostgreSQL's `max_connections` of every host; three of them are reserved for superusers.
   * @default 100
   */
  readonly maxConnections?: number | undefined;
  /**
   * PostgreSQL settings of every host, over the cluster's own: `fsync` is off, for one.
   * @default {}
   */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /**
   * The database that the cluster is asked to have.
   * @default 'app'
   */
  readonly database?: string | undefined;
  /**
   * The superuser of every host.
   * @default 'app'
   */
  readonly user?: string | undefined;
}

/** Complete and valid {@link ClusterOptions}. */
export type ClusterSettings = {
  readonly [K in keyof ClusterOptions]-?: NonNullable<ClusterOptions[K]>;
};

const mostReplicas = 8;
const mostConnections = 10_000;

/** The cluster gives these itself, so a value in `settings` would be lost. */
const ownSettings = [
  'cluster_name',
  'listen_addresses',
  'max_connections',
  'port',
  'primary_conninfo',
  'synchronous_standby_names',
];

/**
 * Completes and checks the options of a cluster.
 *
 * @throws {ConfigError} when an option is unknown or has a value that cannot be used.
 */
export function parseClusterOptions(options: ClusterOptions): ClusterSettings {
  checkObject('startCluster', options);
  const settings: ClusterSettings = {
    replicas: options.replicas ?? 2,
    synchronous: options.synchronous ?? false,
    maxConnections: options.maxConnections ?? 100,
    settings: options.settings ?? {},
    database: options.database ?? 'app',
    user: options.user ?? 'app',
  };
  checkObject('settings', settings.settings);

  for (const name of Object.keys(options)) {
    if (!(name in settings)) {
      const known = Object.keys(settings).join(', ');
      throw new ConfigError(name, `startCluster has no option "${name}"; it has ${known}.`);
    }
  }
  checkCount('replicas', settings.replicas, 0, mostReplicas);
  checkCount('maxConnections', settings.maxConnections, 4, mostConnections);
  checkFlag('synchronous', settings.synchronous);
  checkName('database', settings.database);
  checkName('user', settings.user);
  checkServerSettings(settings.settings);
  return settings;
}

function checkObject(path: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
    throw new ConfigError(path, `${path} is given ${kind}: give an object.`);
  }
}

function checkCount(path: string, value: unknown, least: number, most: number): void {
  if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
    throw new ConfigError(
      path,
      `${path} is ${String(value)}: give a whole number from ${least} to ${most}.`,
    );
  }
}

function checkFlag(path: string, value: unknown): void {
  if (typeof value !== 'boolean') {
    throw new ConfigError(path, `${path} is ${String(value)}: give true or false.`);
  }
}

function checkName(path: string, value: unknown): void {
  if (
    typeof value !== 'string' ||
    !/^[a-z_][a-z0-9_]{0,62}$/.test(value) ||
    value.startsWith('pg_')
  ) {
    throw new ConfigError(
      path,
      `${path} is ${JSON.stringify(value)}: give a lower-case PostgreSQL name that does not begin with "pg_".`,
    );
  }
}

function checkServerSettings(settings: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(settings)) {
    const path = `settings.${name}`;
    if (ownSettings.includes(name)) {
      throw new ConfigError(path, `${path} is decided by the cluster itself: leave it out.`);
    }
    if (typeof value !== 'string') {
      throw new ConfigError(path, `${path} is ${String(value)}: give a string.`);
    }
  }
}

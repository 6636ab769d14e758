import type { Knex } from 'knex';
import { ConfigError } from '../errors.ts';
import type { ConnectionObject } from './connection-object.ts';
import { readConnection } from './connection-options.ts';
import { completeConnection, createProvider } from './connection-provider.ts';
import { madeOf } from './function-sources.ts';
import type { HostEntry } from './host-entry.ts';
import { hostKey, hostName, type KeyDefaults } from './host-key.ts';
import { mergePools } from './pool-options.ts';
import type { ConnectionProvider, HostSettings } from './settings.ts';

/** What replicas inherit, and must differ from. */
export interface ReplicaBase {
  readonly primary: HostSettings;
  readonly pool: Readonly<Knex.PoolConfig> | undefined;
  /** What stands in for what neither a replica nor the primary says. */
  readonly defaults: KeyDefaults;
}

/**
 * Makes the settings of all replicas.
 *
 * @param mayNamePrimary leaves the presumed primary out where it is among them: a directory lists
 *   it once it has become a replica.
 * @throws {ConfigError} when two hosts have one name, or are one database of one server.
 */
export function resolveReplicas(
  written: readonly HostEntry[],
  { primary, pool, defaults }: ReplicaBase,
  mayNamePrimary = false,
): readonly HostSettings[] {
  const isPrimary = (entry: HostEntry): boolean => {
    const known = knownConnection(entry, primary);
    return known !== undefined && primary.key === hostKey(known, defaults);
  };
  const entries = mayNamePrimary ? written.filter((entry) => !isPrimary(entry)) : written;
  const keys = new Map(primary.key === undefined ? [] : [[primary.key, 'connection']]);
  const names = new Map([[primary.name, 'connection']]);
  // Written names first: default ones make way.
  for (const { name, path } of entries) if (name !== undefined) claimName(names, name, path);

  const resolve = (entry: HostEntry, index: number): HostSettings => {
    const known = knownConnection(entry, primary);
    const key = known && hostKey(known, defaults);
    if (key !== undefined) claimKey(keys, key, entry.path);

    const candidates = [known && hostName(known, defaults), key, `replica-${index + 1}`];
    const name = entry.name ?? firstFree(candidates, names);
    if (entry.name === undefined) claimName(names, name, entry.path);

    const connection = connect(entry, known, primary);
    return Object.freeze({
      name,
      key: typeof connection === 'function' ? undefined : key,
      connection,
      weight: entry.weight,
      tags: entry.tags,
      pool: mergePools(pool, entry.pool, `${entry.path}.pool`),
    });
  };

  return Object.freeze(entries.map(resolve));
}

/** What can be said of a host's connection without asking a function. */
function knownConnection(entry: HostEntry, primary: HostSettings): ConnectionObject | undefined {
  if (typeof entry.connection === 'function') return undefined;
  if (typeof primary.connection === 'function') return entry.connection;
  return completeConnection(primary.connection, entry.connection);
}

function connect(
  { connection: own, path }: HostEntry,
  known: ConnectionObject | undefined,
  primary: HostSettings,
): ConnectionObject | ConnectionProvider {
  if (typeof own === 'function') {
    const ask: ConnectionProvider = async () =>
      readConnection(await own(), `${path}()`, ['expirationChecker']);
    return createProvider(primary.connection, madeOf(ask, own));
  }
  if (typeof primary.connection === 'function') return createProvider(primary.connection, own);
  return known ?? own;
}

function firstFree(
  candidates: readonly (string | undefined)[],
  taken: ReadonlyMap<string, string>,
): string {
  const given = candidates.filter((candidate) => candidate !== undefined);
  return given.find((candidate) => !taken.has(candidate)) ?? given.at(-1) ?? '';
}

function claimName(names: Map<string, string>, name: string, path: string): void {
  const other = names.get(name);
  if (other !== undefined) {
    throw new ConfigError(
      `${path}.name`,
      `${path} has the name "${name}" of ${other}; give each host a name of its own.`,
    );
  }
  names.set(name, path);
}

function claimKey(keys: Map<string, string>, key: string, path: string): void {
  const other = keys.get(key);
  if (other !== undefined) {
    throw new ConfigError(path, `${path} is the same host as ${other}, ${key}; write it once.`);
  }
  keys.set(key, path);
}

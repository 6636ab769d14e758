import type { Knex } from 'knex';
import { type ConnectionObject, mergeConnections } from './connection-object.ts';
import { connectionSettings, readConnection } from './connection-options.ts';
import type { Host, HostFunction } from './host-options.ts';
import { weightRange } from './number-range.ts';
import { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import { readPoolOptions } from './pool-options.ts';

/** One replica as the user wrote it, checked. */
export interface HostEntry {
  readonly path: string;
  /** The same host in options again, without an enumerable password. */
  readonly written: Host;
  /** What it says of its connection itself, or the function that knows. */
  readonly connection: ConnectionObject | HostFunction;
  readonly name: string | undefined;
  readonly weight: number;
  readonly tags: readonly string[];
  readonly pool: Readonly<Knex.PoolConfig> | undefined;
}

/**
 * Checks one entry of a list of replicas.
 *
 * @throws {ConfigError} when it is no host, or says something that is unknown or not allowed.
 */
export function readHostEntry(value: unknown, path: string): HostEntry {
  const plain = { path, name: undefined, weight: 1, tags: Object.freeze([]), pool: undefined };
  if (isHostFunction(value)) return { ...plain, written: value, connection: value };
  if (!isOptionsObject(value)) {
    const connection = readConnection(value, path);
    return { ...plain, written: connection, connection };
  }

  const reader = new OptionReader(value, path);
  const name = reader.text('name');
  const weight = reader.number('weight', 1, weightRange);
  const tags = reader.texts('tags');
  const pool = readPool(reader);
  const settings = reader.pick(connectionSettings);
  reader.finish();

  const connection = readConnection(settings, path);
  const about = reader.pick(['name', 'weight']);
  const written = mergeConnections(connection, about, value['tags'] === undefined ? {} : { tags }, {
    pool,
  });
  return { path, written, connection, name, weight, tags, pool };
}

function isHostFunction(value: unknown): value is HostFunction {
  return typeof value === 'function';
}

function readPool(reader: OptionReader): Readonly<Knex.PoolConfig> | undefined {
  const value = reader.read('pool');
  return value === undefined ? undefined : readPoolOptions(value, reader.pathOf('pool'));
}

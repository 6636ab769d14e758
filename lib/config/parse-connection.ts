import { ConfigError } from '../errors.ts';
import { mergeConnections } from './connection-object.ts';
import {
  isConnectionUrl,
  type ParsedConnection,
  parseConnectionUrl,
  urlForm,
} from './connection-url.ts';
import { listAddresses } from './host-list.ts';
import { invalidOption } from './invalid-option.ts';
import { isOptionsObject } from './options-object.ts';

/**
 * Reads a connection in any form that is not a function: an object, a URL, or what Knex makes of one.
 *
 * @throws {ConfigError} when it is none of these or malformed.
 */
export function parseConnection(connection: unknown, path: string): ParsedConnection {
  if (typeof connection === 'string') return parseConnectionUrl(connection, path);
  if (!isOptionsObject(connection)) {
    throw invalidOption(path, connection, 'an object, a postgres:// URL or a function');
  }

  refuseMisreadText(connection, path);
  const url = urlOf(connection);
  if (url !== undefined) return parseConnectionUrl(url, path);

  const { connectionString, ...rest } = connection;
  const { host, port, ...settings } = mergeConnections(rest, { password: connection['password'] });
  const own = {
    addresses: listAddresses(host, port, path),
    settings: mergeConnections(settings, { password: connection['password'] }),
  };
  if (connectionString === undefined) return own;
  if (typeof connectionString !== 'string') {
    throw invalidOption(`${path}.connectionString`, connectionString, 'a postgres:// URL');
  }

  // As in pg, the URL wins over its neighbours; what it leaves out, they fill in.
  const written = parseConnectionUrl(connectionString, `${path}.connectionString`);
  const [first] = written.addresses;
  return {
    addresses: first?.host === undefined ? own.addresses : written.addresses,
    settings: mergeConnections(own.settings, written.settings),
  };
}

/** Finds the URL in what Knex makes of one that `new URL()` refuses: settings of an SQLite file. */
export function urlOf(connection: unknown): string | undefined {
  if (!isOptionsObject(connection)) return undefined;
  const { filename } = connection;
  return typeof filename === 'string' && isConnectionUrl(filename) ? filename : undefined;
}

/**
 * Refuses what Knex made of a text that is no PostgreSQL URL, as far as that can be told.
 *
 * Of the rest Knex has lost what it was: `mysql://h1/db` arrives as an object would that names host
 * and database, `pg-1:5432` as `{ database: '5432' }`, and `postgres:h1` as `postgres:///1` would.
 */
function refuseMisreadText(connection: Readonly<Record<string, unknown>>, path: string): void {
  const { filename, host, database, connectionString } = connection;
  if (typeof filename === 'string' && !isConnectionUrl(filename)) {
    throw invalidOption(path, filename, urlForm);
  }
  // Of "postgres:/user:password@host/db", and of one with another scheme, all became the database.
  const isWithoutHost = !host && connectionString === undefined;
  if (isWithoutHost && typeof database === 'string' && /[@/]/.test(database)) {
    throw new ConfigError(
      path,
      `${path} names no host, and a database that looks like a part of a URL; it must be an object with a host, or ${urlForm}.`,
    );
  }
}

import { mergeConnections } from './connection-object.ts';
import { isConnectionUrl, type ParsedConnection, parseConnectionUrl } from './connection-url.ts';
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

import { isConnectionUrl, parseConnectionUrl } from './connection-url.ts';
import { isOptionsObject } from './options-object.ts';

/**
 * Tells a connection that names several hosts from one that plain `pg` can be left alone with.
 *
 * @throws {ConfigError} when a URL with a comma in it is malformed.
 */
export function namesSeveralHosts(connection: unknown): boolean {
  if (typeof connection === 'string') return urlNamesSeveral(connection, 'connection');
  if (!isOptionsObject(connection)) return false;

  const { host, filename, connectionString } = connection;
  return (
    (typeof host === 'string' && host.includes(',')) ||
    urlNamesSeveral(filename, 'connection') ||
    listsHosts(filename) ||
    urlNamesSeveral(connectionString, 'connection.connectionString')
  );
}

// Without a comma it is one host's, and pg's own to judge.
function urlNamesSeveral(value: unknown, path: string): boolean {
  if (typeof value !== 'string' || !isConnectionUrl(value) || !/,|%2c/i.test(value)) return false;
  return parseConnectionUrl(value, path).addresses.length > 1;
}

// Knex takes "host=h1,h2" and "h1,h2" for a file of SQLite, and pg would dial localhost.
function listsHosts(filename: unknown): boolean {
  return typeof filename === 'string' && !isConnectionUrl(filename) && filename.includes(',');
}

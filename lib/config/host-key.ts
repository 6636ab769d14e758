import type { ConnectionObject } from './connection-object.ts';
import { formatAddress, normalizeHost, parsePort } from './host-address.ts';

/** What stands in for parts of a connection that are not given. */
export interface KeyDefaults {
  readonly host: string;
  readonly port: number | undefined;
  readonly user: string;
  readonly database: string;
}

/** Where only a function knows what is inherited. */
export const unknownDefaults: KeyDefaults = { host: '', port: undefined, user: '', database: '' };

/** What `pg` takes from the environment. */
export function environmentDefaults(environment: NodeJS.ProcessEnv): KeyDefaults {
  const login = environment[process.platform === 'win32' ? 'USERNAME' : 'USER'];
  return {
    host: environment['PGHOST'] || 'localhost',
    port: parsePort(environment['PGPORT']) ?? 5432,
    user: environment['PGUSER'] || login || '',
    database: environment['PGDATABASE'] || '',
  };
}

/** Makes one text of the server that a connection leads to, however spelt: its host, or the directory of its socket, and port. */
export function serverAddress(connection: ConnectionObject, defaults: KeyDefaults): string {
  const host = normalizeHost(connection.host || defaults.host);
  const port = connection.port ?? defaults.port;
  return `${host.includes(':') ? `[${host}]` : host}:${port ?? ''}`;
}

/** Makes one text of the server, database and user that a connection leads to, however spelt. */
export function hostKey(connection: ConnectionObject, defaults: KeyDefaults): string {
  const user = connection.user || defaults.user;
  // pg: the database's default is the user's name.
  const database = connection.database || defaults.database || user;
  return `${serverAddress(connection, defaults)}/${database}/${user}`;
}

/** Names a host by where it listens; undefined where that is not known. */
export function hostName(connection: ConnectionObject, defaults: KeyDefaults): string | undefined {
  const host = connection.host || defaults.host;
  return host === '' ? undefined : formatAddress(host, connection.port ?? defaults.port);
}

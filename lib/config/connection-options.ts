import { ConfigError } from '../errors.ts';
import { type ConnectionObject, mergeConnections } from './connection-object.ts';
import { isConnectionUrl } from './connection-url.ts';
import { invalidOption, invalidSecret } from './invalid-option.ts';
import { delayMillis } from './number-range.ts';
import { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import { parseConnection } from './parse-connection.ts';
import { findRoutingParameter } from './routing-parameters.ts';

const texts = [
  'host',
  'user',
  'database',
  'application_name',
  'fallback_application_name',
  'options',
  'client_encoding',
];
const millis = ['connectionTimeoutMillis', 'query_timeout', 'lock_timeout'];
const unchecked = [
  'port',
  'password',
  'ssl',
  'sslnegotiation',
  'enableChannelBinding',
  'scramMaxIterations',
  'keepAlive',
  'keepAliveInitialDelayMillis',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'stream',
  'types',
  'binary',
  'parseInputDatesAsUTC',
  'replication',
];
// What pg's parser of URLs leaves beside the settings that it makes of them.
const fromUrls = [
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'uselibpqcompat',
  'connect_timeout',
];

/** Every setting that a host may have for its own connection, as `pg` names them. */
export const connectionSettings: readonly string[] = [
  ...texts,
  ...millis,
  ...unchecked,
  ...fromUrls,
  'connectionString',
];

/**
 * Reads what stands for one host, an object or a URL, whatever settings it has.
 *
 * @throws {ConfigError} when it is neither, or speaks of several hosts or of routing.
 */
export function readAnyConnection(value: unknown, path: string): ConnectionObject {
  if (typeof value === 'string' ? !isConnectionUrl(value) : !isOptionsObject(value)) {
    throw invalidOption(path, value, 'a host: an object, a postgres:// URL or a function');
  }

  const { addresses, settings } = parseConnection(value, path);
  const parameter = findRoutingParameter(settings);
  if (parameter !== undefined) {
    throw new ConfigError(
      path,
      `${path} has the parameter ${parameter}; it is one of the whole cluster, to be written in connection.`,
    );
  }
  if (addresses.length !== 1) {
    throw new ConfigError(path, `${path} names several hosts; write each one on its own.`);
  }
  return mergeConnections(settings, { password: settings.password }, { ...addresses[0] });
}

/**
 * Reads what stands for a replica's connection; `also` names what else an object may hold.
 *
 * @throws {ConfigError} as {@link readAnyConnection}, and when a setting is unknown or not allowed.
 */
export function readConnection(
  value: unknown,
  path: string,
  also: readonly string[] = [],
): ConnectionObject {
  const known = [...connectionSettings, ...also];
  const found = readAnyConnection(value, path);
  const misplaced = ['name', 'weight', 'tags', 'pool'].find((key) => found[key] !== undefined);
  if (misplaced !== undefined) {
    throw new ConfigError(
      path,
      `${path} has "${misplaced}"; only a host written as an object in rwSplit.replicas can have it.`,
    );
  }
  if (isOptionsObject(value)) {
    const written = new OptionReader(value, path);
    written.pick(known);
    written.finish();
  }

  const connection = new OptionReader(found, path);
  for (const key of texts) connection.text(key);
  for (const key of millis) connection.number(key, undefined, delayMillis);
  connection.boolean('keepAlive', true);
  checkPassword(connection);

  // A URL's parameters that pg does not know are left out.
  return mergeConnections(connection.pick(known));
}

function checkPassword(reader: OptionReader): void {
  const password = reader.read('password');
  if (password === undefined || typeof password === 'string' || typeof password === 'function') {
    return;
  }
  throw invalidSecret(reader.pathOf('password'), password, 'a string or a function');
}

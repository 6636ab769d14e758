import { parse } from 'pg-connection-string';
import { ConfigError } from '../errors.ts';
import { mergeConnections, type ConnectionObject } from './connection-object.ts';
import { type HostAddress, parseAddress } from './host-address.ts';
import { listAddresses } from './host-list.ts';
import { invalidOption } from './invalid-option.ts';
import { maskUrl } from './shown-value.ts';
import { typeUrlValues } from './url-values.ts';

/** What a connection says: the servers, and what holds for all of them. */
export interface ParsedConnection {
  /** At least one; a single one may leave its host to pg's defaults. */
  readonly addresses: readonly HostAddress[];
  readonly settings: ConnectionObject;
}

/** What a text has to be, for an error message. */
export const urlForm = 'a URL as in postgres://user:password@host-1:5432,host-2/database';
const anyHost = 'host.invalid';

/** Tells a PostgreSQL URL from other texts. */
export function isConnectionUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/**
 * Reads a URL of one host or several; all but the hosts means what it means to `pg`.
 *
 * @throws {ConfigError} when the URL is malformed; the message holds no password.
 */
export function parseConnectionUrl(url: string, path: string): ParsedConnection {
  const [, scheme, authority = '', rest = ''] = /^([^:]+:\/\/)([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || !isConnectionUrl(url)) throw invalidOption(path, url, urlForm);

  const at = authority.lastIndexOf('@') + 1;
  const texts = authority.slice(at).split(',');
  const parsed = parseOneHost(`${scheme}${authority.slice(0, at)}${anyHost}${rest}`, url, path);
  const { host, port, ...settings } = { ...parsed, password: parsed['password'] };

  // As in libpq and pg, hosts and ports among the parameters win.
  if (host !== anyHost) {
    return { addresses: listAddresses(host, port, path), settings: mergeConnections(settings) };
  }

  const addresses = texts.map((text, index) => {
    if (text === '' && texts.length === 1) return {};
    const address = parseAddress(text);
    if (address === undefined) throw malformed(url, path, index + 1);
    return texts.length > 1 ? { port: 5432, ...address } : address;
  });
  return { addresses: withPorts(addresses, port, path), settings: mergeConnections(settings) };
}

function withPorts(
  addresses: readonly HostAddress[],
  port: unknown,
  path: string,
): readonly HostAddress[] {
  if (port === undefined) return addresses;
  const hosts = addresses.map(({ host }) => host ?? '').join(',');
  return listAddresses(hosts, port, path);
}

function parseOneHost(text: string, url: string, path: string): ConnectionObject {
  try {
    return mergeConnections(typeUrlValues({ ...parse(text) }));
  } catch (error) {
    // Not `instanceof`: a file system error comes from another realm in Jest.
    const { name, message } = errorOf(error);
    // What `new URL()` and decoding throw; anything else is about a parameter or a file that it names.
    if (name !== 'TypeError' && name !== 'URIError') {
      throw new ConfigError(path, `${path} has a parameter that cannot be used: ${message}`);
    }
    throw invalidOption(path, url, urlForm);
  }
}

function errorOf(thrown: unknown): { readonly name: unknown; readonly message: string } {
  const error: object = Object(thrown);
  return { name: Reflect.get(error, 'name'), message: String(Reflect.get(error, 'message')) };
}

function malformed(url: string, path: string, place: number): ConfigError {
  const address = 'a name or address, IPv6 in brackets, with a port from 1 to 65535 or none';
  return new ConfigError(
    path,
    `${path} is "${maskUrl(url)}"; its host number ${place} must be ${address}, and special characters in the password percent-encoded.`,
  );
}

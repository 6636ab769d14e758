import { type HostAddress, isHost, parsePort } from './host-address.ts';
import { invalidOption } from './invalid-option.ts';
import { portRange } from './number-range.ts';

/**
 * Takes apart the `host` and `port` of a connection, each of which may be a list joined by commas.
 *
 * @throws {ConfigError} when a host or port is malformed, or the lists differ in length.
 */
export function listAddresses(host: unknown, port: unknown, path: string): readonly HostAddress[] {
  if (host === undefined) return [{ port: readPort(port, path) }];
  if (typeof host !== 'string') throw invalidOption(`${path}.host`, host, 'a host name or address');

  const hosts = host.split(',');
  if (hosts.length === 1) return [{ host: readHost(host, path), port: readPort(port, path) }];

  const ports = listPorts(port, hosts.length, path);
  return hosts.map((each, index) => ({
    host: readHost(each, path),
    port: readPort(ports[index] || undefined, path) ?? 5432,
  }));
}

function listPorts(port: unknown, length: number, path: string): readonly unknown[] {
  // libpq: one port is that of all hosts.
  if (typeof port !== 'string') return Array.from({ length }, () => port);

  const ports = port.split(',');
  if (ports.length === length) return ports;
  // Knex: `postgres://h1,h2:5433/db` arrives as "h1,h2" and the text "5433", which is the last one's.
  if (ports.length === 1) return [...Array.from({ length: length - 1 }, () => undefined), port];

  throw invalidOption(`${path}.port`, port, `one port for each of the ${length} hosts`);
}

function readHost(text: string, path: string): string {
  const host = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (!isHost(host)) throw invalidOption(`${path}.host`, text, 'a host name or address');
  return host;
}

function readPort(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  const port = parsePort(value);
  if (port === undefined) throw invalidOption(`${path}.port`, value, portRange.allowed);
  return port;
}

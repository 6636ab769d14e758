import { ConfigError } from '../errors.ts';
import { type ConnectionObject, mergeConnections } from './connection-object.ts';
import { readAnyConnection } from './connection-options.ts';
import { madeOf } from './function-sources.ts';
import { formatAddress, type HostAddress, normalizeHost } from './host-address.ts';
import type { HostOptions } from './host-options.ts';
import { parseConnection } from './parse-connection.ts';
import { type RoutingParameters, takeRoutingParameters } from './routing-parameters.ts';
import { typeUrlValues } from './url-values.ts';

/** What `connection` says of a cluster. */
export interface WrittenCluster {
  /** Of the presumed primary; or the function that knows. */
  readonly primary: ConnectionObject | (() => Promise<ConnectionObject>);
  /** The further hosts of a URL with several. */
  readonly others: readonly HostOptions[];
  readonly target?: RoutingParameters['target'];
  readonly balancer?: RoutingParameters['balancer'];
}

/**
 * Reads `connection` in each of its forms.
 *
 * @throws {ConfigError} when it has none of them.
 */
export function readCluster(connection: unknown, path: string): WrittenCluster {
  if (typeof connection === 'function') {
    const ask = (): unknown => Reflect.apply(connection, undefined, []);
    const primary = async (): Promise<ConnectionObject> =>
      readAnyConnection(await ask(), `${path}()`);
    return { primary: madeOf(primary, connection), others: [] };
  }

  const { addresses, settings: all } = parseConnection(connection ?? {}, path);
  const { settings, target, balancer, writeAddress } = takeRoutingParameters(all, path);
  const first = writeAddress === undefined ? 0 : findAddress(addresses, writeAddress, path);
  const others = addresses.filter((_, index) => index !== first);
  return {
    primary: mergeConnections(
      typeUrlValues(settings),
      { password: settings.password },
      { ...addresses[first] },
    ),
    others: others.map(({ host, port }) => ({ host, port })),
    target,
    balancer,
  };
}

function findAddress(addresses: readonly HostAddress[], wanted: HostAddress, path: string): number {
  const found = addresses.findIndex((address) => spell(address) === spell(wanted));
  if (found < 0) {
    throw new ConfigError(
      `${path}.writeDataSourceAddress`,
      `${path}.writeDataSourceAddress is ${spell(wanted)}; it must be one of ${addresses.map(spell).join(', ')}.`,
    );
  }
  return found;
}

function spell({ host = 'localhost', port = 5432 }: HostAddress): string {
  return formatAddress(normalizeHost(host), port);
}

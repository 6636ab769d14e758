import { type ConnectionObject, mergeConnections } from './connection-object.ts';
import { madeOf } from './function-sources.ts';
import type { ConnectionProvider } from './settings.ts';

// pg would wait for ever for a server that accepts and never answers.
const defaults = { connectionTimeoutMillis: 5000, keepAlive: true };

/** Completes the settings of a connection with what every host of a cluster needs. */
export function completeConnection(...layers: readonly ConnectionObject[]): ConnectionObject {
  return mergeConnections(defaults, ...layers);
}

/**
 * Makes the function that gives a host's settings: what it says of itself laid over what it
 * inherits, either of which may have to be asked for.
 */
export function createProvider(
  inherited: ConnectionObject | ConnectionProvider,
  own: ConnectionObject | ConnectionProvider,
): ConnectionProvider {
  const provide: ConnectionProvider = async () => {
    const below = typeof inherited === 'function' ? await inherited() : inherited;
    const above = typeof own === 'function' ? await own() : own;

    const checkers = [below.expirationChecker, above.expirationChecker].filter(
      (checker) => checker !== undefined,
    );
    if (checkers.length === 0) return completeConnection(below, above);

    const expirationChecker = (): boolean => checkers.some((isExpired) => isExpired());
    return completeConnection(below, above, mergeConnections({ expirationChecker }));
  };
  return madeOf(provide, inherited, own);
}

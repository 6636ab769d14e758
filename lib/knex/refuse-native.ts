import { ConfigError } from '../errors.ts';

/**
 * Refuses `pg-native`, in whatever way it came: it has no socket that could be closed under a dead
 * server, and does not show what a server reports of its role.
 *
 * @throws {ConfigError} when the driver is the native one.
 */
export function refuseNative(driver: unknown): void {
  if (!isNative(driver)) return;

  throw new ConfigError(
    'client',
    'The driver is pg-native, over which nothing can be split: use pg itself, without NODE_PG_FORCE_NATIVE and without the dialect "pgnative".',
  );
}

// pg's own client has no method of this name, in no version; that of pg-native has had it in all.
function isNative(driver: unknown): boolean {
  const { Client } = driver as { readonly Client?: { readonly prototype: object } };
  return Client !== undefined && '_hasActiveQuery' in Client.prototype;
}

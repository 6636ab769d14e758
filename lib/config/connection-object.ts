import type { Knex } from 'knex';
import { isOptionsObject } from './options-object.ts';
import { TlsSettings } from './tls-settings.ts';

/** All that `pg` is told to open a connection; the password is not enumerable. */
export interface ConnectionObject extends Readonly<Knex.PgConnectionConfig> {
  readonly [setting: string]: unknown;
}

/**
 * Lays settings of connections over each other, the last one on top, into a frozen copy.
 *
 * A setting that is `undefined` or `null` lets the one below show through, and so does an empty
 * host, port, user, database or password: that is how `pg` itself and URLs say "not given".
 */
export function mergeConnections(
  ...layers: readonly Readonly<Record<string, unknown>>[]
): ConnectionObject {
  const merged: Record<string, unknown> = {};
  let password: unknown;

  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer)) {
      if (isGiven(key, value)) merged[key] = value;
    }
    // Not among the entries where it is not enumerable.
    if (isGiven('password', layer['password'])) password = layer['password'];
  }

  if (isOptionsObject(merged['ssl'])) merged['ssl'] = TlsSettings.of(merged['ssl']);
  return Object.freeze(password === undefined ? merged : hideValue(merged, 'password', password));
}

/** Adds a value that inspection, JSON and copies leave out. */
export function hideValue<T extends object>(target: T, key: string, value: unknown): T {
  return Object.defineProperty(target, key, {
    value,
    enumerable: false,
    configurable: true,
    writable: true,
  });
}

const blankable = new Set(['host', 'port', 'user', 'database', 'password']);

function isGiven(key: string, value: unknown): boolean {
  return value !== undefined && value !== null && !(value === '' && blankable.has(key));
}

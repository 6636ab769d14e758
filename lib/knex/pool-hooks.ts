import type { Knex } from 'knex';
import type { HostRole } from '../events.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { serverFacts } from '../hosts/server-facts.ts';
import { outsideScopes } from './scope.ts';

/** The host of a connection, as the pool's `afterCreate` and `validate` get it behind Knex's own arguments. */
export interface HostDescription {
  readonly name: string;
  /** What the connection's own server is, as far as it told. */
  readonly role: HostRole;
  readonly tags: readonly string[];
}

type Hook = (connection: Connection, ...more: readonly unknown[]) => unknown;

/** Gives the hooks of a pool the description of the host, and no scope of whoever needs a connection. */
export function hooksOf(
  pool: Readonly<Knex.PoolConfig>,
  host: () => Host,
): Readonly<Knex.PoolConfig> {
  const { afterCreate, validate }: { afterCreate?: unknown; validate?: unknown } = pool;
  const described = (hook: Hook): Hook => {
    return (connection, ...more) =>
      outsideScopes(() => hook(connection, ...more, describe(host(), connection)));
  };
  return {
    ...pool,
    // Options are checked as they are read: what is given is a function.
    ...(afterCreate !== undefined && { afterCreate: described(afterCreate as Hook) }),
    ...(validate !== undefined && { validate: described(validate as Hook) as () => boolean }),
  };
}

function describe({ name, role, tags }: Host, connection: Connection): HostDescription {
  return Object.freeze({ name, role: serverFacts(connection)?.role ?? role, tags });
}

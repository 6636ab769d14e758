import type { Knex } from 'knex';
import type { BalancerFactory } from '../balancers/registry.ts';
import type { ConnectionObject } from './connection-object.ts';
import type { ConsistencyMode } from './consistency-options.ts';
import type { Target } from './options.ts';
import type { PoolRegistry } from './pool-registry.ts';

/** Answers with the complete settings of a host's next connection; may say when they expire. */
export type ConnectionProvider = () => Promise<ConnectionObject>;

/** One host, ready to be dialled. */
export interface HostSettings {
  /** Unique within the cluster. */
  readonly name: string;
  /** The normalised `host:port/database/user`; undefined where only a function knows. */
  readonly key: string | undefined;
  /** Complete for `pg`: what the host does not override is inherited from the primary. */
  readonly connection: ConnectionObject | ConnectionProvider;
  readonly weight: number;
  readonly tags: readonly string[];
  /** Knex's `pool` with the host's own settings laid over it. */
  readonly pool: Readonly<Knex.PoolConfig>;
}

/** How far behind a replica may be; what is undefined is no limit. */
export interface MaxLagSettings {
  readonly millis: number | undefined;
  readonly bytes: number | undefined;
}

/** What reads see of earlier writes. */
export interface ConsistencySettings {
  readonly mode: ConsistencyMode;
  readonly waitMillis: number;
  readonly monotonic: boolean;
  readonly token: TokenSettings;
}

/** How tokens are signed and believed; the secrets are not enumerable. */
export interface TokenSettings {
  /** The first signs, all are believed; empty where tokens are not signed. */
  readonly secrets: readonly string[];
  readonly maxAgeMillis: number;
}

/** How hosts are watched. */
export interface HealthSettings {
  readonly intervalMillis: number;
  readonly timeoutMillis: number;
  readonly fall: number;
  readonly rise: number;
  readonly backoffMaxMillis: number;
  readonly slowStartMillis: number;
  readonly hangMillis: number;
}

/** What is said of the database's functions. */
export interface FunctionSettings {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly unknown: 'primary' | 'replica';
}

/** The session state that every connection has. */
export interface StateSettings {
  readonly searchPath: readonly string[] | undefined;
  readonly role: string | undefined;
  readonly settings: Readonly<Record<string, string>>;
}

/** Everything that the options leave to choose, complete, validated and frozen. */
export interface RWSplitSettings extends RoutingSettings {
  /** The presumed primary; roles are observed. */
  readonly primary: HostSettings;
  readonly replicas: readonly HostSettings[] | (() => Promise<readonly HostSettings[]>);
}

/** All settings but the hosts. */
export interface RoutingSettings {
  readonly target: Target;
  readonly balancer: BalancerFactory;
  /** The primary's weight among the hosts that serve reads; 0 where it is none of them. */
  readonly primaryReads: number;
  readonly fallback: 'primary' | 'error';
  readonly fallbackShare: number;
  readonly maxLag: MaxLagSettings | false;
  readonly consistency: ConsistencySettings;
  readonly health: HealthSettings;
  readonly failover: { readonly waitMillis: number };
  readonly discovery: { readonly intervalMillis: number };
  readonly functions: FunctionSettings;
  readonly state: StateSettings | undefined;
  readonly pools: string | PoolRegistry | undefined;
  readonly maxPerServer: number | undefined;
  readonly prepare: { readonly max: number } | false;
  readonly pooler: 'session' | undefined;
}

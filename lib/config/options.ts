import type { BalancerOption } from '../balancers/registry.ts';
import type { ConsistencyMode, ConsistencyOptions } from './consistency-options.ts';
import type { DiscoveryOptions, FailoverOptions, HealthOptions } from './health-options.ts';
import type { Host, ReplicaDiscovery } from './host-options.ts';
import type { PoolRegistry } from './pool-registry.ts';
import type { StateOptions } from './state-options.ts';

declare module 'knex' {
  namespace Knex {
    // A merged declaration has to repeat Knex's type parameter.
    // oxlint-disable-next-line no-unused-vars
    interface Config<SV extends {}> {
      /** Sends every statement to the right server of a cluster; without it the client is plain `pg`. */
      rwSplit?: RWSplitOptions | undefined;
    }
  }
}

/** Which hosts serve; the table in the README's section "All options" says what each value means. */
export type Target = 'split' | 'primary' | 'replica' | 'prefer-replica' | 'any';

/** What is written under the key `rwSplit` of a Knex configuration. */
export interface RWSplitOptions {
  /**
   * The hosts that serve reads, or an async function that answers with them. Where it is given, it
   * replaces all hosts but the primary of a URL with several hosts. An empty list leaves the
   * primary alone to serve.
   *
   * @default []
   */
  replicas?: readonly Host[] | ReplicaDiscovery | undefined;
  /**
   * Which hosts serve reads and writes. With `'primary'` no replica serves, with `'replica'` writes
   * arrive at one and fail there, with `'any'` roles do not count.
   *
   * @default 'split'
   */
  target?: Target | undefined;
  /**
   * What chooses among the hosts that are fit to serve a read: a name, `{ name: 'priority', first }`
   * (`first` counts replicas: at least 1, at most all of them), or a function that makes a balancer.
   *
   * @default 'round-robin'
   */
  balancer?: BalancerOption | undefined;
  /**
   * Whether the primary is one of the hosts that serve reads, and with which weight: `true` is 1,
   * `false` is 0 and leaves it to writes and to `fallback`.
   *
   * @default false
   */
  primaryReads?: boolean | number | undefined;
  /**
   * What becomes of a read that finds no fit replica: it runs on the primary, or fails with
   * `RWSPLIT_NO_HOST` as soon as no probe under way can change that.
   *
   * @default 'primary'
   */
  fallback?: 'primary' | 'error' | undefined;
  /**
   * The share of the primary's pool that such reads may hold, above 0 and up to 1. Near 0 they wait
   * for each other, at 1 they may keep writes waiting.
   *
   * @default 0.5
   */
  fallbackShare?: number | undefined;
  /**
   * How far a replica may be behind the primary and still serve: milliseconds, bytes of WAL, or
   * both; what an object leaves out is no limit. One that was further behind serves again at half of
   * the limit, and one whose lag is not known does not serve. Lag below `health.intervalMillis` is
   * not seen. At 0 a replica that is seen behind does not serve, `false` lets all serve however late.
   *
   * @default { millis: 60000 }
   */
  maxLag?: { millis?: number | undefined; bytes?: number | undefined } | false | undefined;
  /** What reads see of earlier writes: a mode, or a mode with its details. */
  consistency?: ConsistencyMode | ConsistencyOptions | undefined;
  /** How hosts are watched. */
  health?: HealthOptions | undefined;
  /** What happens while no primary is known. */
  failover?: FailoverOptions | undefined;
  /** How often `replicas` as a function is asked again. */
  discovery?: DiscoveryOptions | undefined;
  /** What functions of the database do, where the catalog does not say or says it too strictly. */
  functions?: FunctionOptions | undefined;
  /** The session state that every connection has. */
  state?: StateOptions | undefined;
  /**
   * Shares the pools of the hosts, and what is known of them, with the other clients of this process
   * that have the same hosts, connections and pool settings: those that give the same name, or the
   * same {@link PoolRegistry} (where clients of other hosts or users have pools of their own). Each
   * client keeps its own routing, sessions and state. The pools open with the first client and close
   * with the last one's `destroy()`. Where the settings differ, constructing the client throws
   * `RWSPLIT_CONFIG`. Without it each client has pools of its own.
   *
   * @default undefined
   */
  pools?: string | PoolRegistry | undefined;
  /**
   * The most connections that this process has to one server (a host and port), the probe's included:
   * at least 2. All clients that give it share them, whatever their databases and users, or those with
   * the same {@link PoolRegistry}. Where all are in use, the longest-idle connection of another pool
   * is closed, or the request waits its turn, and fails with a `KnexTimeoutError` where it gets none
   * within `acquireConnectionTimeout`. Another number for the same server, or a host whose address only
   * a function knows, is `RWSPLIT_CONFIG`. Without it a client neither counts nor waits.
   *
   * @default undefined
   */
  maxPerServer?: number | undefined;
  /**
   * Sends texts that come again and again as named prepared statements, outside of transactions: the
   * server parses them once on each connection, and may keep their plan. `max` is how many it keeps
   * there, from 1 to 10000; the one used longest ago makes room. Each takes memory of the server, with
   * too few of them texts are parsed time and again.
   *
   * @default false
   */
  prepare?: { max: number } | false | undefined;
  /**
   * `'session'` says that a pooler in between keeps one server connection for each of ours, for as
   * long as it is open. Without it, where a pooler is seen, statements in a session state and
   * session-level advisory locks fail with `RWSPLIT_STATE` instead of being sent. Said of one that
   * does not, tenants see each other's state until it is found out.
   *
   * @default undefined
   */
  pooler?: 'session' | undefined;
}

/** What is said of the database's functions, each as `name` or `schema.name`. */
export interface FunctionOptions {
  /**
   * Functions that only read, whatever the catalog says.
   *
   * @default []
   */
  read?: readonly string[] | undefined;
  /**
   * Functions that write or need the primary.
   *
   * @default []
   */
  write?: readonly string[] | undefined;
  /**
   * Where a call of a function goes that nothing is known of. `'replica'` trusts it to only read.
   *
   * @default 'primary'
   */
  unknown?: 'primary' | 'replica' | undefined;
}

import type { HostRole } from '../events.ts';
import { budgetOf } from '../hosts/budget-shortage.ts';
import type { Host } from '../hosts/host.ts';
import type { BudgetStats } from '../hosts/server-budget.ts';
import type { ConsistencyStats } from '../hosts/consistency-stats.ts';
import type { ServedStats } from '../hosts/served-stats.ts';
import { keepsNames } from '../hosts/named-support.ts';
import { hasPooler } from '../hosts/pooled-hosts.ts';
import type { PoolStats } from '../hosts/pool-settings.ts';
import { unfitness } from '../hosts/routable-hosts.ts';

/** What is known of one host at a moment. */
export interface HostSnapshot {
  readonly name: string;
  readonly role: HostRole;
  /** Whether the server itself told its role, or only the configuration. */
  readonly isRoleObserved: boolean;
  /**
   * `unknown` before its first probe, `up`, `suspect` after a failure that may be none, `down`,
   * `half-open` while it has to prove itself again; `draining`: taken out of use by hand.
   */
  readonly state: 'draining' | 'unknown' | 'up' | 'suspect' | 'down' | 'half-open';
  /** Why it serves nothing, or no reads, in words that follow its name; undefined while it does. */
  readonly reason: string | undefined;
  /** Milliseconds that a replica is behind; undefined where that is not known, or of no meaning. */
  readonly lagMillis: number | undefined;
  /** Bytes of WAL that a replica is behind; undefined where that is not known, or of no meaning. */
  readonly lagBytes: number | undefined;
  /** The timeline that its server is on, as far as it tells. */
  readonly timeline: number | undefined;
  readonly weight: number;
  readonly tags: readonly string[];
  /** Connections in use, and queries that wait for one. */
  readonly inFlight: number;
  /** Moving average of how long its queries take, in milliseconds; 0 before the first. */
  readonly latencyMillis: number;
  readonly pool: PoolStats;
  /** What all clients together hold of the server's connections; undefined without `maxPerServer`. */
  readonly budget: BudgetStats | undefined;
  readonly served: ServedStats;
  /** How reads were served that have to see what their session wrote or saw. */
  readonly consistency: Readonly<ConsistencyStats>;
  /**
   * Whether a pooler seems to stand before it, as its newest connection shows; undefined where none
   * told.
   */
  readonly hasPooler: boolean | undefined;
  /**
   * False once its sessions were seen to lose statements prepared by name (`prepare`), as behind a
   * pooler: it gets none since.
   */
  readonly keepsPrepared: boolean;
  /** What failed on it last: a probe, or a connection; kept when it is well again. */
  readonly lastError: string | undefined;
}

/**
 * Takes the snapshot of a host.
 *
 * @param elected the primary, if there is one.
 */
export function snapshot(host: Host, elected: Host | undefined): HostSnapshot {
  const { name, role, isRoleObserved, isDraining, weight, tags, inFlight, latencyMillis } = host;
  return {
    name,
    role,
    isRoleObserved,
    state: isDraining ? 'draining' : host.health.state,
    reason: unfitness(host, elected),
    lagMillis: host.lag?.millis,
    lagBytes: host.lag?.bytes,
    timeline: host.report?.timeline,
    weight,
    tags,
    inFlight,
    latencyMillis,
    pool: host.pool.stats,
    budget: budgetOf(host.pool)?.stats,
    served: host.served,
    consistency: { ...host.consistency },
    hasPooler: hasPooler(host),
    keepsPrepared: keepsNames(host),
    lastError: host.lastError?.message,
  };
}

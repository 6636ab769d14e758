import type { HostRole } from '../events.ts';
import type { Host, ServedStats } from '../hosts/host.ts';
import type { PoolStats } from '../hosts/pool.ts';

/** What is known of one host at a moment. */
export interface HostSnapshot {
  readonly name: string;
  readonly role: HostRole;
  /** Whether the server itself told its role, or only the configuration. */
  readonly isRoleObserved: boolean;
  /** `draining`: taken out of use by hand; `up`: a connection was opened; `unknown`: not yet. */
  readonly state: 'draining' | 'unknown' | 'up';
  readonly weight: number;
  readonly tags: readonly string[];
  /** Connections in use, and queries that wait for one. */
  readonly inFlight: number;
  /** Moving average of how long its queries take, in milliseconds; 0 before the first. */
  readonly latencyMillis: number;
  readonly pool: PoolStats;
  readonly served: ServedStats;
  /** Why its last failed connection failed. */
  readonly lastError: string | undefined;
}

/** Takes the snapshot of a host. */
export function snapshot(host: Host): HostSnapshot {
  const { name, role, isRoleObserved, isDraining, weight, tags, inFlight, latencyMillis } = host;
  const seen = isRoleObserved ? 'up' : 'unknown';
  return {
    name,
    role,
    isRoleObserved,
    state: isDraining ? 'draining' : seen,
    weight,
    tags,
    inFlight,
    latencyMillis,
    pool: host.poolStats,
    served: host.served,
    lastError: host.lastError?.message,
  };
}

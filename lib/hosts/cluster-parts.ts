import type { Clock } from '../clock.ts';
import type { HealthSettings, HostSettings, MaxLagSettings } from '../config/settings.ts';
import type { HostRole, RWSplitEmitter } from '../events.ts';
import type { Host } from './host.ts';

/** Makes the {@link Host} of one server; opens nothing. */
export type HostFactory = (settings: HostSettings, role: HostRole) => Host;

/** What a {@link Cluster} works with. */
export interface ClusterParts {
  readonly primary: HostSettings;
  /** Undefined where they are yet to be told: see `Cluster.add`. */
  readonly replicas: readonly HostSettings[] | undefined;
  /** Whether the primary is one of the hosts that serve reads. */
  readonly primaryReads: boolean;
  /** Whether it matters who is a primary and who a replica. */
  readonly hasRoles: boolean;
  readonly maxLag: MaxLagSettings | false;
  readonly health: HealthSettings;
  readonly events: RWSplitEmitter;
  readonly clock: Clock;
  readonly make: HostFactory;
}

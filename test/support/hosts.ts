import type { HostRole } from '../../lib/events.ts';
import { RWSplitEmitter } from '../../lib/events.ts';
import { Cluster } from '../../lib/hosts/cluster.ts';
import { Host } from '../../lib/hosts/host.ts';
import type { Connection } from '../../lib/hosts/host.ts';
import { HostPool } from '../../lib/hosts/pool.ts';
import type { HostSettings } from '../../lib/config/settings.ts';

/** How a host without a server behaves. */
export interface HostSketch {
  readonly weight?: number;
  readonly tags?: readonly string[];
  readonly max?: number;
  /** What it weighs among the readers while it is the primary. */
  readonly primaryReads?: number;
  /** Opens a connection; by default one that is just there. */
  readonly create?: () => Promise<Connection>;
}

/** What a cluster without servers has besides hosts. */
export interface ClusterSketch {
  readonly primaryReads?: boolean;
  readonly events?: RWSplitEmitter;
}

/** The settings of a host that exists in name only. */
export function hostSettings(
  name: string,
  { weight = 1, tags = [] }: HostSketch = {},
): HostSettings {
  return { name, key: name, connection: {}, weight, tags, pool: {} };
}

/** A host with a real pool, whose connections are plain objects. */
export function makeHost(
  settings: HostSettings,
  role: HostRole,
  { max = 2, create = async () => ({}), primaryReads = 0 }: HostSketch = {},
): Host {
  const pool = new HostPool<Connection>({
    create,
    validate: () => true,
    destroy: () => undefined,
    min: 0,
    max,
    acquireTimeoutMillis: 1000,
    createTimeoutMillis: 100,
    propagateCreateError: true,
  });
  return new Host(settings, role, primaryReads, pool);
}

/** A cluster of a host named `primary` and of others, none of which has a server. */
export function makeCluster(
  sketches: Readonly<Record<string, HostSketch>>,
  { primaryReads = false, events = new RWSplitEmitter() }: ClusterSketch = {},
): Cluster {
  const [primary, ...replicas] = Object.entries(sketches).map(([name, sketch]) =>
    hostSettings(name, sketch),
  );
  if (primary === undefined) throw new Error('A cluster has at least one host.');
  return new Cluster(primary, replicas, primaryReads, events, (settings, role) =>
    makeHost(settings, role, sketches[settings.name] ?? {}),
  );
}

/** The names of hosts, for a list that reads well in an assertion. */
export function names(hosts: readonly { readonly name: string }[]): readonly string[] {
  return hosts.map(({ name }) => name);
}

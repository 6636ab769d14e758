import type { Clock } from '../../lib/clock.ts';
import type { HealthSettings, HostSettings, MaxLagSettings } from '../../lib/config/settings.ts';
import type { HostRole } from '../../lib/events.ts';
import { RWSplitEmitter } from '../../lib/events.ts';
import { Cluster } from '../../lib/hosts/cluster.ts';
import { Host } from '../../lib/hosts/host.ts';
import type { Connection } from '../../lib/hosts/host.ts';
import { HostPool } from '../../lib/hosts/pool.ts';
import type { ServerReport } from '../../lib/hosts/server-report.ts';
import { FakeClock } from './fake-clock.ts';

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
  readonly hasRoles?: boolean;
  readonly events?: RWSplitEmitter;
  readonly clock?: Clock;
  readonly health?: Partial<HealthSettings>;
  readonly maxLag?: MaxLagSettings | false;
}

/** Health settings as they are without any option. */
export const healthSettings: HealthSettings = {
  intervalMillis: 5000,
  timeoutMillis: 1000,
  fall: 3,
  rise: 2,
  backoffMaxMillis: 60_000,
  slowStartMillis: 10_000,
  hangMillis: 10_000,
};

/** What a server answers that tells nothing but what is given. */
export function makeReport(told: Partial<ServerReport> = {}): ServerReport {
  return {
    isInRecovery: undefined,
    isReadOnlyByDefault: undefined,
    systemId: undefined,
    timeline: undefined,
    isTimelineCurrent: true,
    position: undefined,
    receivedPosition: undefined,
    replayAgeMillis: undefined,
    isReplayPaused: undefined,
    isReceiving: undefined,
    server: undefined,
    hasTrueProcessIds: true,
    ...told,
  };
}

/** What the server of a primary, or of a replica that has replayed all, answers. */
export function reportOf(role: HostRole, told: Partial<ServerReport> = {}): ServerReport {
  const position = 1000n;
  const common = { systemId: '7', timeline: 1, position };
  return role === 'primary'
    ? makeReport({ isInRecovery: false, ...common, ...told })
    : makeReport({
        isInRecovery: true,
        ...common,
        receivedPosition: position,
        isReceiving: true,
        ...told,
      });
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
  clock: Clock = new FakeClock(),
): Host {
  const pool = new HostPool<Connection>(
    {
      create,
      validate: () => true,
      destroy: () => undefined,
      min: 0,
      max,
      acquireTimeoutMillis: 1000,
      createTimeoutMillis: 100,
      propagateCreateError: true,
    },
    clock,
  );
  return new Host(settings, role, primaryReads, pool, clock);
}

/** A cluster without servers, whose first host is the presumed primary; nothing is known of any. */
export function makeUnseenCluster(
  sketches: Readonly<Record<string, HostSketch>>,
  {
    primaryReads = false,
    hasRoles = true,
    events = new RWSplitEmitter(),
    clock = new FakeClock(),
    health = {},
    maxLag = false,
  }: ClusterSketch = {},
): Cluster {
  const [primary, ...replicas] = Object.entries(sketches).map(([name, sketch]) =>
    hostSettings(name, sketch),
  );
  if (primary === undefined) throw new Error('A cluster has at least one host.');
  return new Cluster({
    primary,
    replicas,
    primaryReads,
    hasRoles,
    maxLag,
    health: { ...healthSettings, ...health },
    events,
    clock,
    make: (settings, role) => makeHost(settings, role, sketches[settings.name] ?? {}, clock),
  });
}

/** As {@link makeUnseenCluster}, but every host was found well, the first one to be the primary. */
export function makeCluster(
  sketches: Readonly<Record<string, HostSketch>>,
  sketch: ClusterSketch = {},
): Cluster {
  const cluster = makeUnseenCluster(sketches, sketch);
  const [first] = cluster.hosts;
  tellRoles(cluster, first?.name ?? '');
  return cluster;
}

/** The host with a name, which has to be there. */
export function hostOf(cluster: Cluster, name: string): Host {
  const host = cluster.host(name);
  if (host === undefined) throw new Error(`There is no host named ${name}.`);
  return host;
}

/** Has every host answer a probe, and the named one be the primary. */
export function tellRoles(
  cluster: Cluster,
  primary: string,
  told: Partial<ServerReport> = {},
  at: number = 0,
): void {
  for (const { name } of cluster.hosts) {
    answerProbe(cluster, name, reportOf(name === primary ? 'primary' : 'replica', told), at);
  }
}

/** Has one host answer a probe; undefined for one that has no connection left for it. */
export function answerProbe(
  cluster: Cluster,
  name: string,
  report: ServerReport | undefined,
  at: number = 0,
): void {
  cluster.noteProbe(hostOf(cluster, name), report, at);
}

/** Has one host fail probes, as many as take it down. */
export function takeDown(cluster: Cluster, name: string, error: Error = new Error('gone')): void {
  const host = hostOf(cluster, name);
  const ailment = { trouble: 'refused', reason: error.message } as const;
  while (host.health.state !== 'down') cluster.noteFailedProbe(host, ailment, error);
}

/** The names of hosts, for a list that reads well in an assertion. */
export function names(hosts: readonly { readonly name: string }[]): readonly string[] {
  return hosts.map(({ name }) => name);
}

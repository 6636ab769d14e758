import type { Host } from './host.ts';

/** The hosts that a router chooses from, kept current by the cluster so that a decision allocates no list. */
export interface RoutableHosts {
  /** Every host. */
  readonly all: readonly Host[];
  /** The primary, or empty while there is none that can take writes. */
  readonly primary: readonly Host[];
  /** The replicas that are fit to serve. */
  readonly replicas: readonly Host[];
  /** What balanced reads choose from: `replicas`, and the primary where it serves reads. */
  readonly readers: readonly Host[];
  /** Every host that is fit to serve, whatever its role. */
  readonly usable: readonly Host[];
  /** Replicas that may serve where nothing else does: silent for a moment, or refusing for a reason to be told. */
  readonly lastReplicas: readonly Host[];
}

// The primary comes after every replica in any order of hosts.
const PRIMARY_ORDER = Number.MAX_SAFE_INTEGER;

/** Says who may serve what. */
export function surveyHosts(
  all: readonly Host[],
  elected: Host | undefined,
  primaryReads: boolean,
): RoutableHosts {
  const isAlone = all.length === 1;
  const open = all.filter((host) => !host.isDraining);
  const usable = open.filter((host) => isUp(host) || (isAlone && isUnknown(host)));
  const members = open.filter((host) => host.role === 'replica' && host.exclusion === undefined);
  const replicas = members.filter((host) => isUp(host) && host.lagProblem === undefined);
  const lastReplicas = members.filter((host) => isLastResort(host));
  const primary = open.filter((host) =>
    elected === undefined
      ? host.isPresumed && (isMisconfigured(host) || (isAlone && isUntold(host)))
      : host === elected && (isUp(host) || isSilent(host) || isMisconfigured(host)),
  );
  rank(all, elected ?? all.find((host) => host.isPresumed));
  const readers =
    primaryReads && (primary.every(isUp) || isAlone) ? [...replicas, ...primary] : replicas;
  return { all, primary, replicas, readers, usable, lastReplicas };
}

/** Says why a host serves nothing, or no reads; undefined where it is in use. */
export function unfitness(host: Host, elected: Host | undefined): string | undefined {
  const { health, exclusion } = host;
  if (host.isDraining) return 'is draining';
  if (health.state === 'unknown') return 'was not probed yet';
  if (health.state !== 'up') return `is ${health.state}: ${health.reason}`;
  if (exclusion !== undefined) return exclusionReasons[exclusion];
  if (host.role === 'primary') {
    const isUnheard = host !== elected && host.report === undefined;
    return isUnheard
      ? 'has not told its role yet: it has no connection left for a probe'
      : undefined;
  }
  return host.lagProblem;
}

const exclusionReasons = {
  foreign: 'is a server of another cluster: its system identifier differs',
  fenced: 'is an old primary: the cluster is on a higher timeline',
  unproved:
    'claims to be the primary, but nothing shows that it is of this cluster; if it is the primary, name it in connection',
  'another primary':
    'is a primary, too, and another host is the elected one; stop it, or make it a replica',
  'same server': 'is the elected primary under another name',
  'old timeline': 'follows an old primary: the cluster is on a higher timeline',
} as const;

function isUp({ health }: Host): boolean {
  return health.state === 'up';
}

function isUnknown({ health }: Host): boolean {
  return health.state === 'unknown';
}

// Nothing was heard from it, or nothing but that it has no connection left for a probe.
function isUntold(host: Host): boolean {
  return isUnknown(host) || (isUp(host) && host.report === undefined);
}

// It missed a probe and may be no more than slow.
function isSilent({ health }: Host): boolean {
  return health.state === 'suspect' && health.trouble === 'silent';
}

// What such a host refuses, it refuses with the words that the user has to read.
function isMisconfigured({ health }: Host): boolean {
  return health.state === 'down' && health.trouble === 'misconfigured';
}

function isLastResort(host: Host): boolean {
  return host.lagProblem === undefined && (isSilent(host) || isMisconfigured(host));
}

// Places are those among the replicas, whichever of the configured hosts turned out to be one.
function rank(hosts: readonly Host[], primary: Host | undefined): void {
  let place = 0;
  for (const host of hosts) host.order = host === primary ? PRIMARY_ORDER : place++;
}

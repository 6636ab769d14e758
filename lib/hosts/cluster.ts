import type { HostSettings } from '../config/settings.ts';
import type { HostRole, RWSplitEmitter } from '../events.ts';
import type { Host } from './host.ts';

/** The hosts that a router chooses from, kept current by the cluster so that a decision allocates no list. */
export interface RoutableHosts {
  /** Every host. */
  readonly all: readonly Host[];
  /** The primary, or empty while none is known. */
  readonly primary: readonly Host[];
  /** The replicas that are fit to serve. */
  readonly replicas: readonly Host[];
  /** What balanced reads choose from: `replicas`, and the primary where it serves reads. */
  readonly readers: readonly Host[];
  /** Every host that is fit to serve, whatever its role. */
  readonly usable: readonly Host[];
}

/** Makes the {@link Host} of one server; opens nothing. */
export type HostFactory = (settings: HostSettings, role: HostRole) => Host;

// The primary comes after every replica in any order of hosts.
const PRIMARY_ORDER = Number.MAX_SAFE_INTEGER;

/** One primary and its replicas: who has which role, and who is fit to serve. */
export class Cluster {
  readonly #events: RWSplitEmitter;
  readonly #primaryReads: boolean;
  readonly #make: HostFactory;
  #hosts: readonly Host[];
  #routable: RoutableHosts;

  constructor(
    primary: HostSettings,
    replicas: readonly HostSettings[],
    primaryReads: boolean,
    events: RWSplitEmitter,
    make: HostFactory,
  ) {
    this.#events = events;
    this.#primaryReads = primaryReads;
    this.#make = make;
    this.#hosts = [make(primary, 'primary'), ...this.#makeReplicas(replicas)];
    this.#routable = this.#survey();
  }

  /** Every host, the presumed primary first. */
  get hosts(): readonly Host[] {
    return this.#hosts;
  }

  /** Who may serve what, as known at this moment. */
  get routable(): RoutableHosts {
    return this.#routable;
  }

  /** The host with a name, if there is one. */
  host(name: string): Host | undefined {
    return this.#hosts.find((host) => host.name === name);
  }

  /** Adds the replicas that only a function knows. */
  addReplicas(replicas: readonly HostSettings[]): void {
    this.#hosts = [...this.#hosts, ...this.#makeReplicas(replicas)];
    this.#routable = this.#survey();
  }

  /** Takes over what a server itself says of its role. */
  observeRole(host: Host, role: HostRole): void {
    const was = host.role;
    if (host.isRoleObserved && was === role) return;

    host.isRoleObserved = true;
    host.role = role;
    if (role === 'primary') this.#presumeReplicas(host);
    this.#routable = this.#survey();
    if (was !== role) this.#events.tell('host:role', { host: host.name, role, was });
  }

  /** Stops or resumes the use of a host for what comes. */
  setDraining(host: Host, isDraining: boolean): void {
    host.isDraining = isDraining;
    this.#routable = this.#survey();
  }

  // A cluster has one primary: whoever was only presumed to be it is, most likely, a replica.
  #presumeReplicas(primary: Host): void {
    for (const host of this.#hosts) {
      if (host !== primary && !host.isRoleObserved) host.role = 'replica';
    }
  }

  #makeReplicas(replicas: readonly HostSettings[]): Host[] {
    return replicas.map((settings) => this.#make(settings, 'replica'));
  }

  #survey(): RoutableHosts {
    const all = this.#hosts;
    const usable = all.filter((host) => !host.isDraining);
    const replicas = usable.filter((host) => host.role === 'replica');
    // A server that said so itself goes before one that is only presumed to be the primary.
    const claimants = all.filter((host) => host.role === 'primary');
    const elected = claimants.find((host) => host.isRoleObserved) ?? claimants[0];
    const primary = elected === undefined || elected.isDraining ? [] : [elected];
    rank(all, elected);
    const readers = this.#primaryReads ? [...replicas, ...primary] : replicas;
    return { all, primary, replicas, readers, usable };
  }
}

// Places are those among the replicas, whichever of the configured hosts turned out to be one.
function rank(hosts: readonly Host[], primary: Host | undefined): void {
  let place = 0;
  for (const host of hosts) host.order = host === primary ? PRIMARY_ORDER : place++;
}

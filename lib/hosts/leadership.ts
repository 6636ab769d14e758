import type { RWSplitEmitter } from '../events.ts';
import type { ClusterMemory, Exclusion } from './election.ts';
import { elect, noMemory } from './election.ts';
import type { Host } from './host.ts';
import { SeveredError } from './sever.ts';

/** Who is the primary, from one election to the next; a failover is followed, never made. */
export class Leadership {
  readonly #presumed: Host;
  readonly #hasRoles: boolean;
  readonly #events: RWSplitEmitter;
  #memory: ClusterMemory = noMemory;
  #elected: Host | undefined;
  /** The primary before that, or the present one. */
  #last: Host | undefined;
  /** What listeners were told of whom last. */
  readonly #told = new WeakMap<Host, Exclusion>();

  /**
   * @param presumed the host that the configuration calls the primary.
   * @param hasRoles whether roles count: where they don't, nobody is excluded for one.
   */
  constructor(presumed: Host, hasRoles: boolean, events: RWSplitEmitter) {
    this.#presumed = presumed;
    this.#hasRoles = hasRoles;
    this.#events = events;
  }

  /** Undefined while no primary is known that can be reached. */
  get elected(): Host | undefined {
    return this.#elected;
  }

  /** What all elections so far have shown. */
  get memory(): ClusterMemory {
    return this.#memory;
  }

  /**
   * Holds the election anew, and puts everyone in their place.
   *
   * @returns whether the cluster has moved on to a higher timeline.
   */
  hold(hosts: readonly Host[]): boolean {
    const { timeline } = this.#memory;
    const { primary, excluded, memory } = elect(hosts, this.#memory, this.#elected);
    this.#memory = memory;

    for (const host of hosts) {
      const exclusion = this.#hasRoles ? excluded.get(host) : undefined;
      const isNew = exclusion !== host.exclusion;
      host.exclusion = exclusion;
      if (exclusion === 'fenced' && isNew) this.#fence(host);
      // What was taken for another server may have restarted between two probes of two names.
      if (exclusion === 'same server' || host.report?.isInRecovery === true) {
        host.rivalTimeline = undefined;
      }
      if (exclusion === 'another primary') {
        if (!hasSpokenSince(primary, host)) continue;
        if (host.report?.server !== undefined) host.rivalTimeline = host.report.timeline;
      }
      this.#tell(host, exclusion);
    }
    if (primary !== this.#elected) {
      // The sizes belong to the role: a promoted replica has to carry what the primary carried.
      this.#elected?.pool.resize(this.#elected.ownSize);
      // Whoever waits there for a connection would write to it.
      this.#elected?.pool.turnAway();
      this.#elected = primary;
      if (primary !== undefined) this.#succeed(primary);
      primary?.pool.resize(this.#presumed.ownSize);
    }
    return memory.timeline !== timeline;
  }

  // The last primary may have been silent since, and still acknowledge what nobody will ever see.
  #succeed(primary: Host): void {
    const last = this.#last;
    this.#last = primary;
    if (!this.#hasRoles || last === undefined || last === primary) return;
    if (last.role !== 'primary') return;

    last.abandonConnections(
      () =>
        new SeveredError(`${last.name} is no primary any more; what still ran on it was ended.`),
    );
  }

  #fence(host: Host): void {
    // A commit that it still acknowledged would be lost with everything else of its branch.
    host.abandonConnections(
      () => new SeveredError(`${host.name} is an old primary; what still ran on it was ended.`),
    );
  }

  #tell(host: Host, exclusion: Exclusion | undefined): void {
    if (exclusion === this.#told.get(host)) return;
    // An old primary may be no more than remembered: it is told of once it runs.
    const isRunning = host.health.state === 'up' || host.health.state === 'half-open';
    if (exclusion === 'fenced' && !isRunning) return;

    if (exclusion === undefined) this.#told.delete(host);
    else this.#told.set(host, exclusion);
    if (exclusion === undefined || exclusion === 'same server') return;
    if (exclusion !== 'fenced') {
      this.#events.tell('host:excluded', { host: host.name, reason: exclusion });
      return;
    }
    this.#events.tell('host:fenced', {
      host: host.name,
      timeline: host.report?.timeline,
      clusterTimeline: this.#memory.timeline,
    });
  }
}

// Two names of one server tell of its restart one after the other: until both have, they look like two.
function hasSpokenSince(primary: Host | undefined, { reportedAt }: Host): boolean {
  return primary?.health.state === 'up' && primary.reportedAt > reportedAt;
}

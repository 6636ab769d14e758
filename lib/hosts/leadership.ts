import type { RWSplitEmitter } from '../events.ts';
import type { ClusterMemory } from './election.ts';
import { elect, noMemory } from './election.ts';
import type { Host } from './host.ts';
import { SeveredError } from './sever.ts';

/** Who is the primary, from one election to the next; a failover is followed, never made. */
export class Leadership {
  readonly #presumed: Host;
  readonly #events: RWSplitEmitter;
  #memory: ClusterMemory = noMemory;
  #elected: Host | undefined;

  /** @param presumed the host that the configuration calls the primary. */
  constructor(presumed: Host, events: RWSplitEmitter) {
    this.#presumed = presumed;
    this.#events = events;
  }

  /** Undefined while no primary is known that can be reached. */
  get elected(): Host | undefined {
    return this.#elected;
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
      const was = host.exclusion;
      host.exclusion = excluded.get(host);
      if (host.exclusion === 'fenced' && was !== 'fenced') this.#fence(host);
    }
    if (primary !== this.#elected) {
      // The sizes belong to the role: a promoted replica has to carry what the primary carried.
      this.#elected?.pool.resize(this.#elected.ownSize);
      this.#elected = primary;
      primary?.pool.resize(this.#presumed.ownSize);
    }
    return memory.timeline !== timeline;
  }

  #fence(host: Host): void {
    // A commit that it still acknowledged would be lost with everything else of its branch.
    host.abandonConnections(
      new SeveredError(`${host.name} is an old primary; what still ran on it was ended.`),
    );
    this.#events.tell('host:fenced', {
      host: host.name,
      timeline: host.report?.timeline,
      clusterTimeline: this.#memory.timeline,
    });
  }
}

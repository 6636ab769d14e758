import type { HostSettings } from '../config/settings.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Host } from '../hosts/host.ts';

/** What {@link ReplicaChanges} work with. */
export interface ReplicaChangesParts {
  readonly cluster: Cluster;
  readonly remake: (host: Host, settings: HostSettings) => void;
  readonly onChange: () => void;
  /** Probes a host now. */
  readonly check: (host: Host) => Promise<void>;
}

// How long what runs on a host that has gone from the list may go on.
const DRAIN_MILLIS = 30_000;

/** Brings the hosts of a cluster into line with a new list of its replicas. */
export class ReplicaChanges {
  readonly #parts: ReplicaChangesParts;
  readonly #leaving = new Map<Host, Promise<void>>();

  constructor(parts: ReplicaChangesParts) {
    this.#parts = parts;
  }

  /**
   * Adds hosts that are new, drains those that have gone, and lets the others stay as they are.
   *
   * @returns the names of new hosts that had to be left out, as another host goes by them.
   */
  async apply(list: readonly HostSettings[]): Promise<readonly string[]> {
    const { cluster, remake, onChange, check } = this.#parts;
    const present = cluster.hosts.filter((host) => !host.isPresumed);
    const kept = new Set<Host>();
    const fresh: HostSettings[] = [];

    for (const settings of list) {
      const host = present.find((other) => isSame(other.settings, settings));
      // The name may have been another's before: that one has to go first.
      if (host === undefined || host.name !== settings.name) fresh.push(settings);
      else {
        kept.add(host);
        remake(host, settings);
      }
    }

    // A registry may know of a promotion before a probe does.
    const leaving = present.filter((host) => !kept.has(host));
    await Promise.all(leaving.map((host) => check(host)));
    // While there is no primary, whoever left the list may be about to be it.
    const gone = cluster.elected ? leaving.filter((host) => !isPrimary(host, cluster)) : [];
    for (const host of gone) {
      cluster.remove(host);
      host.pool.turnAway();
      const ending = host.end(DRAIN_MILLIS).finally(() => this.#leaving.delete(host));
      this.#leaving.set(host, ending);
    }
    const names = new Set(cluster.hosts.map(({ name }) => name));
    const added = fresh.filter(({ name }) => !names.has(name));
    if (added.length > 0) cluster.add(added);
    else cluster.publish();
    if (gone.length > 0 || added.length > 0) onChange();
    return fresh.map(({ name }) => name).filter((name) => names.has(name));
  }

  /** Hosts that have gone, and are yet to end. */
  get leaving(): readonly Host[] {
    return [...this.#leaving.keys()];
  }

  /** Resolves when the hosts that have gone are closed. */
  async end(): Promise<void> {
    await Promise.all(this.#leaving.values());
  }
}

// A promoted replica is in no list of replicas any more, and must not be lost for that.
function isPrimary(host: Host, { elected }: Cluster): boolean {
  return host === elected;
}

function isSame(one: HostSettings, other: HostSettings): boolean {
  return one.key === undefined || other.key === undefined
    ? one.name === other.name
    : one.key === other.key;
}

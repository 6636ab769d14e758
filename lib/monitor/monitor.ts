import type { Cluster } from '../hosts/cluster.ts';
import type { Host } from '../hosts/host.ts';
import type { HostWatchParts } from './host-watch.ts';
import { HostWatch } from './host-watch.ts';
import type { DialProbe } from './probe.ts';

/** What a {@link Monitor} works with. */
export interface MonitorParts extends HostWatchParts {
  /** Makes what opens the probes' connections to a host. */
  readonly dialer: (host: Host) => DialProbe;
}

/** Watches the hosts of a cluster, all at the same time, from the first query to the end. */
export class Monitor {
  readonly #parts: MonitorParts;
  readonly #watches = new Map<Host, HostWatch>();
  #hasPrimary = true;
  #isDestroyed = false;

  constructor(parts: MonitorParts) {
    const { cluster } = parts;
    this.#parts = parts;
    cluster.onDoubt = (host, hasMoved) => {
      const watch = this.#watches.get(host);
      if (hasMoved) watch?.redial();
      watch?.nudge();
    };
    cluster.onChange = () => this.#follow(cluster);
  }

  /** Whether hosts are watched already. */
  get isStarted(): boolean {
    return this.#watches.size > 0;
  }

  /** Begins to watch every host that isn't watched, and ceases to watch those that have gone. */
  start(): void {
    if (this.#isDestroyed) return;

    const { cluster, dialer } = this.#parts;
    for (const [host, watch] of this.#watches) {
      if (cluster.hosts.includes(host)) continue;
      watch.destroy();
      this.#watches.delete(host);
    }
    for (const host of cluster.hosts) {
      if (this.#watches.has(host)) continue;
      const watch = new HostWatch(host, dialer(host), this.#parts);
      this.#watches.set(host, watch);
      void watch.check();
    }
  }

  /** Resolves when every host has been probed at least once. */
  async whenSettled(): Promise<void> {
    const watches = [...this.#watches.values()];
    const unknown = watches.filter(({ host }) => host.health.state === 'unknown');
    await Promise.all(unknown.map((watch) => watch.check()));
  }

  /**
   * Probes every host now.
   *
   * @returns how many are up.
   */
  async checkNow(): Promise<number> {
    this.start();
    await Promise.all([...this.#watches.values()].map((watch) => watch.check()));
    return this.#parts.cluster.hosts.filter(({ health }) => health.state === 'up').length;
  }

  /** Probes one host now, by a new connection where its name may have moved on. */
  async check(host: Host, hasMoved: boolean): Promise<void> {
    const watch = this.#watches.get(host);
    await (hasMoved ? watch?.checkAnew() : watch?.check());
  }

  /** Ends every probe. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const watch of this.#watches.values()) watch.destroy();
    this.#watches.clear();
  }

  #follow({ elected }: Cluster): void {
    const had = this.#hasPrimary;
    this.#hasPrimary = elected !== undefined;
    if (!had || this.#hasPrimary) return;
    for (const watch of this.#watches.values()) watch.hasten();
  }
}

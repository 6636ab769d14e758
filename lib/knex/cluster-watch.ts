import { systemClock } from '../clock.ts';
import type { RWSplitSettings } from '../config/settings.ts';
import type { RWSplitEmitter } from '../events.ts';
import { Cluster } from '../hosts/cluster.ts';
import { isReachable } from '../hosts/health.ts';
import type { Host } from '../hosts/host.ts';
import { Monitor } from '../monitor/monitor.ts';
import type { HostMaker } from './host-maker.ts';
import type { PgClient } from './internals.ts';
import { probeDialer } from './probe-dialer.ts';
import { ReplicaDiscovery } from './replica-discovery.ts';
import { outsideScopes } from './scope.ts';

// The longest that a timer of Node runs: what is waited for has a bound of its own.
const LONGEST_MILLIS = 2_147_483_647;

// How long all hosts are not probed again for want of what somebody claims.
const SOON_MILLIS = 250;

/** A cluster, and what keeps it current: the probes, and the function that names its replicas. */
export class ClusterWatch {
  readonly cluster: Cluster;
  readonly monitor: Monitor;
  readonly #discovery: ReplicaDiscovery | undefined;
  readonly #acquireMillis: number;
  readonly #hangMillis: number;
  #isDestroyed = false;
  #checking: Promise<number> | undefined;
  #checkedAt = 0;

  constructor(
    client: PgClient,
    { primary, replicas, primaryReads, maxLag, health, discovery, target }: RWSplitSettings,
    events: RWSplitEmitter,
    maker: HostMaker,
    needsPrimary: () => boolean,
  ) {
    const isFunction = typeof replicas === 'function';
    const isAlone = !isFunction && replicas.length === 0;
    this.#acquireMillis = maker.acquireMillis;
    this.#hangMillis = health.hangMillis;
    this.cluster = new Cluster({
      primary,
      replicas: isFunction ? undefined : replicas,
      // Alone, the primary is what reads are for, and no fallback with a share.
      primaryReads: primaryReads > 0 || isAlone,
      hasRoles: target !== 'any',
      maxLag,
      health,
      events,
      clock: systemClock,
      make: maker.make,
    });
    this.monitor = new Monitor({
      cluster: this.cluster,
      settings: health,
      // Clients that share the hosts come and go.
      get needsPrimary() {
        return needsPrimary();
      },
      clock: systemClock,
      random: Math.random,
      outside: outsideScopes,
      dialer: (host) => probeDialer(client, host, maker.acquireMillis),
    });
    if (!isFunction) return;

    this.#discovery = new ReplicaDiscovery({
      list: async () => {
        const told = await replicas();
        maker.check(told);
        return told;
      },
      cluster: this.cluster,
      remake: maker.remake,
      check: (host) => this.monitor.check(host, false),
      onChange: () => this.monitor.start(),
      events,
      clock: systemClock,
      intervalMillis: discovery.intervalMillis,
      answerMillis: maker.acquireMillis,
    });
  }

  /**
   * Begins to watch the hosts, unless that was done before.
   *
   * @returns a promise while the function that names the replicas has yet to answer.
   */
  start(): Promise<void> | undefined {
    const discovery = this.#discovery;
    if (discovery !== undefined && !discovery.isDone) {
      return outsideScopes(async () => {
        await discovery.ask();
        if (!this.#isDestroyed) this.monitor.start();
      });
    }
    if (!this.monitor.isStarted) outsideScopes(() => this.monitor.start());
    return undefined;
  }

  /** Resolves once some host is known to be up, or none of all that were looked at, or after `millis`. */
  async whenUsable(millis: number): Promise<void> {
    const { changes } = this.cluster;
    const deadline = systemClock.now() + millis;
    await this.start();
    while (this.cluster.routable.usable.length === 0 && !this.cluster.isSettled) {
      // oxlint-disable-next-line no-await-in-loop -- each turn waits for a change.
      if (!(await changes.after(changes.count, deadline - systemClock.now()))) return;
    }
  }

  /** Resolves once every host was looked at; a probe's time bounds it. */
  async whenSettled(): Promise<void> {
    await held(async () => {
      await this.start();
      await this.monitor.whenSettled();
    });
  }

  /** Probes every host now; says how many are up. */
  async checkNow(): Promise<number> {
    return held(async () => {
      await this.start();
      return this.monitor.checkNow();
    });
  }

  /** Probes every host, unless that was done a moment ago; whoever asks meanwhile shares it. */
  async checkSoon(): Promise<void> {
    const now = systemClock.now();
    if (this.#checking === undefined || now - this.#checkedAt > SOON_MILLIS) {
      this.#checkedAt = now;
      this.#checking = this.checkNow();
    }
    await this.#checking;
  }

  /** Hosts that have gone from the list, and are yet to end. */
  get leaving(): readonly Host[] {
    return this.#discovery?.leaving ?? [];
  }

  /** How long what is in use on a host is waited for, when it is to end. */
  endMillis({ health }: Host): number {
    return isReachable(health)
      ? this.#acquireMillis
      : Math.min(this.#hangMillis, this.#acquireMillis);
  }

  /** Ends the probes at once, and the connections when what uses them has ended or had its time. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.monitor.destroy();
    const ends = this.cluster.hosts.map((host) => host.end(this.endMillis(host)));
    // Whoever waits for a host waits in vain.
    this.cluster.changes.end();
    await Promise.all([this.#discovery?.destroy(), ...ends]);
  }
}

// Probes let the process end, and somebody waits for these.
async function held<T>(work: () => Promise<T>): Promise<T> {
  const letGo = systemClock.holdFor(LONGEST_MILLIS, () => undefined);
  try {
    return await work();
  } finally {
    letGo();
  }
}

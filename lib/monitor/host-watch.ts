import type { Clock } from '../clock.ts';
import type { HealthSettings } from '../config/settings.ts';
import type { Cluster } from '../hosts/cluster.ts';
import { probeDelay } from '../hosts/health.ts';
import type { Host } from '../hosts/host.ts';
import { judgeConnectError } from '../routing/failure.ts';
import { HangWatch } from './hang-watch.ts';
import { LostConnections } from './lost-connections.ts';
import { makeProbe } from './make-probe.ts';
import type { DialProbe, ProbeOutcome } from './probe.ts';
import type { Prober } from './shared-probe.ts';

/** What a {@link HostWatch} works with. */
export interface HostWatchParts {
  readonly cluster: Cluster;
  readonly settings: HealthSettings;
  /** Whether statements wait while there is no primary. */
  readonly needsPrimary: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  /** Runs what outlives the query that happens to cause it, outside of the query's scope. */
  readonly outside: <T>(fn: () => T) => T;
}

// Probes are this far from their time at most, as a share of it, so that hosts aren't asked in step.
const JITTER = 0.2;

// While writes wait for a primary, whoever may become it is asked this often, and by its name anew.
const LEADERLESS_MILLIS = 250;

// Whoever ends each of the probe's connections at once is dialled no more often than this.
const LOST_MILLIS = 250;
const REDIAL_MILLIS = 1000;

// Who had no turn asks again this soon.
const UNHEARD_MILLIS = 250;

// A name may move on while the server that it stood for goes on: it is asked anew this often.
const KEPT_MILLIS = 30_000;

/** Probes one host, each time when its state says so, and tells the cluster. */
export class HostWatch {
  readonly host: Host;
  readonly #parts: HostWatchParts;
  readonly #probe: Prober;
  readonly #hang: HangWatch;
  readonly #lost: LostConnections;
  #cancelTimer: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #isDestroyed = false;
  #mustRepeat = false;
  /** Since when it has had no turn to ask, which tells nothing of the host. */
  #unheardSince: number | undefined;
  #redialledAt = Number.NEGATIVE_INFINITY;
  #dialledAt = 0;
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, dial: DialProbe, parts: HostWatchParts) {
    const { clock, settings } = parts;
    this.host = host;
    this.#parts = parts;
    this.#probe = makeProbe(host, dial, clock, () => this.#noteLost());
    this.#hang = new HangWatch(host, settings, clock);
    this.#lost = new LostConnections(host, this.#probe, settings, clock);
  }

  /**
   * Probes at once; resolves when the cluster knows what came of it.
   *
   * @param ageMillis how old what another client was told of the same server may be instead.
   */
  check(ageMillis: number = 0): Promise<void> {
    this.#cancelTimer();
    this.#running ??= this.#parts
      .outside(() => this.#check(ageMillis))
      .finally(() => {
        this.#running = undefined;
        this.#parts.outside(() => this.#schedule());
      });
    return this.#running;
  }

  /** Probes at once, or again if a probe is on its way that may not have seen what there is to see. */
  nudge(): void {
    if (this.#isDestroyed) return;
    if (this.#running !== undefined) this.#mustRepeat = true;
    void this.check();
  }

  /** Does not wait longer for the next probe than a cluster without a primary may. */
  hasten(): void {
    if (this.#running === undefined) this.#schedule();
  }

  /** Dials anew, and probes again by the new connection: the name may stand for another server. */
  redial(): void {
    const { clock, outside } = this.#parts;
    const now = clock.now();
    if (now - this.#redialledAt < REDIAL_MILLIS) return;

    this.#redialledAt = now;
    void outside(async () => {
      if (await this.#renew()) this.nudge();
    });
  }

  /** As {@link HostWatch.check}, by a new connection where one can be had. */
  async checkAnew(): Promise<void> {
    await this.#parts.outside(() => this.#renew());
    await this.check();
  }

  /** Ends the probe, its connection and its timers. */
  destroy(): void {
    this.#isDestroyed = true;
    this.#cancelTimer();
    this.#hang.destroy();
    this.#probe.destroy();
  }

  async #check(ageMillis: number): Promise<void> {
    const { cluster, clock, settings } = this.#parts;
    // A name that has moved on to the new primary is found only by asking it again.
    if (this.#isLeaderless() && cluster.isSettled) this.redial();
    let since = this.#unheardSince ?? clock.now() - ageMillis;
    do {
      this.#mustRepeat = false;
      const at = clock.now();
      this.#probedAt = at;
      // oxlint-disable-next-line no-await-in-loop -- a host is asked one thing at a time.
      const outcome = await this.#probe.run(settings.timeoutMillis, since);
      if (this.#isDestroyed) return;
      this.#unheardSince = outcome === undefined ? since : undefined;
      if (outcome !== undefined) this.#tell(outcome, outcome.at ?? at);
      since = clock.now();
      // What is repeated once is what was in doubt when the probe had been sent.
    } while (this.#mustRepeat);
  }

  #tell(outcome: ProbeOutcome, at: number): void {
    const { cluster } = this.#parts;
    if (outcome.isGood) {
      const isOld = at - this.#dialledAt >= KEPT_MILLIS;
      if (outcome.isNewConnection || isOld) this.#dialledAt = at;
      if (!outcome.isNewConnection && isOld) this.redial();
      this.#hang.noteAnswer();
      cluster.noteProbe(this.host, outcome.report, at);
      this.#lost.look(outcome.report.hasTrueProcessIds);
      return;
    }

    const { error, isTimeout, isOfApplication } = outcome;
    if (isOfApplication) {
      const ailment = { trouble: 'misconfigured', reason: error.message } as const;
      return cluster.noteFailedProbe(this.host, ailment, error);
    }
    const { host: evidence } = judgeConnectError(error);
    if (evidence === 'overloaded') {
      this.#hang.noteAnswer();
      return cluster.noteProbe(this.host, undefined, at);
    }
    const isSilent = isTimeout || evidence === 'doubtful';
    const known = evidence === 'starting' || evidence === 'misconfigured' ? evidence : 'refused';
    const trouble = isSilent ? 'silent' : known;
    // What was sent to a host that refuses has failed already, or its packets get lost.
    if (trouble === 'silent' || trouble === 'refused') this.#hang.noteSilence();
    cluster.noteFailedProbe(this.host, { trouble, reason: error.message }, error);
  }

  #noteLost(): void {
    const { clock } = this.#parts;
    const left = this.#probedAt + LOST_MILLIS - clock.now();
    if (left <= 0 || this.#isDestroyed) return this.nudge();
    this.#cancelTimer();
    this.#cancelTimer = clock.after(left, () => this.nudge());
  }

  #renew(): Promise<boolean> {
    return this.#probe.renew(this.#parts.settings.timeoutMillis);
  }

  // One that has come back takes no writes before further probes were good.
  #isLeaderless(): boolean {
    const { elected } = this.#parts.cluster;
    if (!this.#parts.needsPrimary) return false;
    return elected === undefined || elected.health.state === 'half-open';
  }

  #schedule(): void {
    const { clock, settings, random } = this.#parts;
    if (this.#isDestroyed) return;

    this.#cancelTimer();
    const jitter = 1 - JITTER + 2 * JITTER * random();
    const delay = probeDelay(this.host.health, settings) * jitter;
    const most = this.#isLeaderless() ? LEADERLESS_MILLIS : Number.POSITIVE_INFINITY;
    const millis = Math.min(delay, most, this.#unheardSince === undefined ? delay : UNHEARD_MILLIS);
    this.#cancelTimer = clock.after(millis, () => void this.check(millis / 2));
  }
}

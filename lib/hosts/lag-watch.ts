import type { Clock } from '../clock.ts';
import type { HealthSettings, MaxLagSettings } from '../config/settings.ts';
import type { RWSplitEmitter } from '../events.ts';
import type { Host } from './host.ts';
import type { Lag } from './lag.ts';
import { LagMeter, lagProblem } from './lag.ts';
import type { ServerReport } from './server-report.ts';

/** What a {@link LagWatch} works with. */
export interface LagWatchParts {
  readonly maxLag: MaxLagSettings | false;
  readonly health: HealthSettings;
  readonly events: RWSplitEmitter;
  readonly clock: Clock;
}

/** Whether there is a primary to be behind of, as known when a replica is measured. */
export interface Standing {
  readonly elected: Host | undefined;
  /** Whether every host was looked at: before that, a primary may be yet to be found. */
  readonly isSettled: boolean;
}

// A report of so many probes ago says nothing of how things are.
const STALE_PROBES = 3;

/** Says of each replica how far it is behind, and whether it may serve so. */
export class LagWatch {
  readonly #parts: LagWatchParts;
  readonly #meter: LagMeter;
  readonly #staleMillis: number;
  readonly #measuredAt = new WeakMap<Host, number>();

  constructor(parts: LagWatchParts) {
    const { intervalMillis, timeoutMillis } = parts.health;
    this.#parts = parts;
    this.#staleMillis = STALE_PROBES * intervalMillis + timeoutMillis;
    this.#meter = new LagMeter(this.#staleMillis);
  }

  /** Forgets where the primary was, as after a promotion. */
  forget(): void {
    this.#meter.forget();
  }

  /** Takes over what a host reported of its position when it was asked at `at`. */
  measure(host: Host, report: ServerReport, at: number, { elected, isSettled }: Standing): void {
    const { clock } = this.#parts;
    if (host === elected && report.position !== undefined) this.#meter.note(report.position, at);
    if (report.isInRecovery !== true) {
      host.lag = undefined;
      host.lagProblem = undefined;
      return;
    }
    const isLeaderless = elected === undefined && isSettled;
    this.#measuredAt.set(host, clock.now());
    this.#judge(host, this.#meter.lagOf(report, isLeaderless ? undefined : clock.now()));
  }

  /** Takes over that a replica is alive and reported nothing: what it reported last grows old. */
  noteNothing(host: Host): void {
    const measuredAt = this.#measuredAt.get(host);
    if (host.lag === undefined || measuredAt === undefined) return;
    if (this.#parts.clock.now() - measuredAt <= this.#staleMillis) return;
    this.#judge(host, { bytes: undefined, millis: undefined });
  }

  #judge(host: Host, lag: Lag): void {
    const { maxLag, events } = this.#parts;
    const was = host.lagProblem;
    host.lag = lag;
    host.lagProblem = lagProblem(lag, maxLag, was !== undefined);
    if ((was === undefined) === (host.lagProblem === undefined)) return;

    const { bytes, millis } = lag;
    const isFit = host.lagProblem === undefined;
    events.tell('host:lag', { host: host.name, bytes, millis, isFit, reason: host.lagProblem });
  }

  /** Measures the replicas anew where every host was looked at, and none of them is a primary. */
  settle(hosts: readonly Host[], standing: Standing): void {
    if (standing.elected !== undefined) return;

    const now = this.#parts.clock.now();
    for (const host of hosts) {
      if (host.report !== undefined) this.measure(host, host.report, now, standing);
    }
  }
}

import type { HostSettings } from '../config/settings.ts';
import { Positions } from '../consistency/positions.ts';
import type { HostRole } from '../events.ts';
import { Changes } from './changes.ts';
import type { Ailment } from './health.ts';
import type { ClusterParts } from './cluster-parts.ts';
import type { ClusterMemory } from './election.ts';
import { enterHealth } from './enter-health.ts';
import { afterFailedProbe, afterGoodProbe, afterSignal } from './health.ts';
import type { Host } from './host.ts';
import { LagWatch } from './lag-watch.ts';
import { Leadership } from './leadership.ts';
import type { RoutableHosts } from './routable-hosts.ts';
import { Survey } from './survey.ts';
import type { ServerReport } from './server-report.ts';

/** One primary and its replicas: who has which role, and who is fit to serve. */
export class Cluster {
  readonly changes: Changes;
  /** How far each server has replayed, as probes and checks told. */
  readonly positions: Positions = new Positions();
  /** Told when a probe should say soon how a host does, by a new connection if its name may have moved on. */
  onDoubt: (host: Host, hasMoved: boolean) => void = () => undefined;
  /** Told when somebody may have another role or state than before. */
  onChange: () => void = () => undefined;
  readonly #parts: ClusterParts;
  readonly #leadership: Leadership;
  readonly #lags: LagWatch;
  #hosts: readonly Host[];
  readonly #survey: Survey;
  #isComplete: boolean;
  #isSettled = false;

  constructor(parts: ClusterParts) {
    const { primary, replicas, make, clock } = parts;
    this.#parts = parts;
    this.changes = new Changes(clock);
    const presumed = make(primary, 'primary');
    const made = (replicas ?? []).map((settings) => make(settings, 'replica'));
    this.#hosts = [presumed, ...made];
    this.#leadership = new Leadership(presumed, parts.hasRoles, parts.events);
    this.#lags = new LagWatch(parts);
    this.#isComplete = replicas !== undefined;
    this.#isSettled = this.#isComplete && this.#hosts.length === 1;
    this.#survey = new Survey(this.#hosts, parts.primaryReads);
  }

  /** Every host, the presumed primary first. */
  get hosts(): readonly Host[] {
    return this.#hosts;
  }

  /** Who may serve what, as known at this moment. */
  get routable(): RoutableHosts {
    return this.#survey.routable;
  }

  /** The primary, by what the servers say; undefined while none is known that can be reached. */
  get elected(): Host | undefined {
    return this.#leadership.elected;
  }

  /** What is known of the cluster from all that was ever seen. */
  get memory(): ClusterMemory {
    return this.#leadership.memory;
  }

  /** Whether there was time to look at every host once. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The host with a name, if there is one. */
  host(name: string): Host | undefined {
    return this.#hosts.find((host) => host.name === name);
  }

  /** Adds hosts, which serve once a probe has found them well. */
  add(replicas: readonly HostSettings[]): void {
    const added = replicas.map((settings) => this.#parts.make(settings, 'replica'));
    this.#hosts = [...this.#hosts, ...added];
    this.#isComplete = true;
    this.publish();
  }

  /** Goes on without the hosts that nobody has told yet. */
  goOn(): void {
    if (this.#isComplete) return;

    this.#isComplete = true;
    this.publish();
  }

  /** Takes a host out for good; what runs on it goes on. */
  remove(host: Host): void {
    this.#hosts = this.#hosts.filter((other) => other !== host);
    host.isDraining = true;
    this.publish();
  }

  /** Stops or resumes the use of a host for what comes. */
  setDraining(host: Host, isDraining: boolean): void {
    host.isDraining = isDraining;
    this.publish();
  }

  /**
   * Takes over what a server answered to a probe that began at `at`.
   *
   * @param report undefined where it is alive but has no connection left for a probe.
   */
  noteProbe(host: Host, report: ServerReport | undefined, at: number): void {
    const { clock, health } = this.#parts;
    enterHealth(host, afterGoodProbe(host.health, clock.now(), health), this.#parts);
    if (report === undefined) {
      this.#lags.noteNothing(host);
      return this.publish();
    }

    const { isInRecovery } = report;
    const isOther = host.report?.server !== undefined && host.report.server !== report.server;
    host.report = report;
    host.reportedAt = at;
    if (isInRecovery === true) {
      host.wasInRecovery = true;
      this.positions.note(report.server, report.timeline, report.position);
    }
    if (isInRecovery !== undefined) this.#observeRole(host, isInRecovery ? 'replica' : 'primary');
    // The name of the primary stands for another server: the old one may still take writes.
    if (isOther && host.role === 'primary') host.replaceConnections();
    this.#elect();
    this.#lags.measure(host, report, at, this);
    this.publish();
  }

  /** Takes over that a host failed a probe. */
  noteFailedProbe(host: Host, ailment: Ailment, error: Error): void {
    const { clock, health } = this.#parts;
    host.lastError = error;
    enterHealth(host, afterFailedProbe(host.health, clock.now(), ailment, health), this.#parts);
    this.#lags.noteNothing(host);
    this.#elect();
    this.publish();
  }

  /** Takes over that a query or a new connection met trouble on a host. */
  noteTrouble(host: Host, ailment: Ailment, error: Error): void {
    host.lastError = error;
    const before = host.health;
    host.health = afterSignal(before, this.#parts.clock.now(), ailment);
    if (host.health === before) return;

    this.onDoubt(host, false);
    this.publish();
  }

  /** Asks for a probe of a host that may have changed: what it answers, or who stands behind its name. */
  doubt(host: Host, hasMoved: boolean): void {
    this.#survey.forget();
    this.onDoubt(host, hasMoved);
  }

  /** Says anew who may serve what, and tells those who wait for it. */
  publish(): void {
    // Hosts that join later are looked at beside what goes on.
    const wasSettled = this.#isSettled;
    this.#isSettled ||=
      this.#isComplete && this.#hosts.every(({ health }) => health.state !== 'unknown');
    if (this.#isSettled && !wasSettled) this.#lags.settle(this.#hosts, this);
    // Thousands may wait, and look again at each change.
    if (!this.#survey.take(this.#hosts, this.elected, this.#isSettled)) return;

    this.changes.note();
    this.onChange();
  }

  #observeRole(host: Host, role: HostRole): void {
    const was = host.role;
    host.isRoleObserved = true;
    if (was === role) return;

    host.role = role;
    host.replaceConnections();
    this.#parts.events.tell('host:role', { host: host.name, role, was });
  }

  #elect(): void {
    if (this.#leadership.hold(this.#hosts)) this.#lags.forget();
  }
}

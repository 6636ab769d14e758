import type { HostView } from '../balancers/balancer.ts';
import type { Clock } from '../clock.ts';
import type { HostSettings } from '../config/settings.ts';
import { CatchUp } from '../consistency/catch-up.ts';
import type { HostRole } from '../events.ts';
import { AverageLatency } from './average-latency.ts';
import { Drains } from './drains.ts';
import type { Candidate, Exclusion } from './election.ts';
import type { Health } from './health.ts';
import { rampShare, unknownHealth } from './health.ts';
import type { Lag } from './lag.ts';
import type { ConsistencyStats } from './consistency-stats.ts';
import { newConsistencyStats } from './consistency-stats.ts';
import type { HostPool } from './pool.ts';
import type { PoolSize } from './pool-settings.ts';
import type { ServedStats } from './served-stats.ts';
import type { ServerReport } from './server-report.ts';
import type { ErrorOfOne } from './sever.ts';
import { sever, SeveredError } from './sever.ts';
import { serverFacts } from './server-facts.ts';
import { Waiters } from './waiters.ts';

/** What a `pg` connection must be for this library: an object with an identity. */
export type Connection = object;

/** One server we may connect to: its pool, what it said last, and what it is doing. */
export class Host implements HostView, Candidate {
  readonly name: string;
  readonly isPresumed: boolean;
  readonly pool: HostPool<Connection>;
  /** How large its own settings make its pool. */
  readonly ownSize: PoolSize;
  order = 0;
  /** What the configuration says, until the server itself tells. */
  role: HostRole;
  /** Whether `role` was told by the server itself. */
  isRoleObserved = false;
  /** Taken out of use by hand. */
  isDraining = false;
  health: Health = unknownHealth;
  /** What its server said last, while it is reachable. */
  report: ServerReport | undefined;
  wasInRecovery = false;
  rivalTimeline: number | undefined;
  /** When the probe began that `report` answers, on the clock. */
  reportedAt = 0;
  /** Why it may be neither the primary nor a replica. */
  exclusion: Exclusion | undefined;
  /** How far it is behind, if it is a replica. */
  lag: Lag | undefined;
  /** What is wrong with its lag; undefined where it may serve. */
  lagProblem: string | undefined;
  readonly catchUp: CatchUp = new CatchUp();
  readonly consistency: ConsistencyStats = newConsistencyStats();
  lastError: Error | undefined;
  readonly #primaryReads: number;
  readonly #clock: Clock;
  readonly #latency: AverageLatency = new AverageLatency();
  #settings: HostSettings;
  #slowStart: { readonly health: Health; readonly millis: number } | undefined;
  readonly #drains: Drains;
  #running = 0;
  #reads = 0;
  #writes = 0;
  #connectErrors = 0;
  readonly #idleWaiters: Waiters = new Waiters();

  /** @param primaryReads what the host weighs among the readers while it is the primary; 0 for its own weight. */
  constructor(
    settings: HostSettings,
    role: HostRole,
    primaryReads: number,
    pool: HostPool<Connection>,
    clock: Clock,
  ) {
    this.name = settings.name;
    this.isPresumed = role === 'primary';
    this.#settings = settings;
    this.#primaryReads = primaryReads;
    this.#clock = clock;
    this.#drains = new Drains(clock);
    this.role = role;
    this.pool = pool;
    this.ownSize = { min: pool.minimum, max: pool.maximum };
  }

  get settings(): HostSettings {
    return this.#settings;
  }

  get tags(): readonly string[] {
    return this.#settings.tags;
  }

  /** The share of the reads; a role's own where the host is the primary that serves reads. */
  get weight(): number {
    const isReadingPrimary = this.role === 'primary' && this.#primaryReads > 0;
    const weight = isReadingPrimary ? this.#primaryReads : this.#settings.weight;
    return this.#slowStart === undefined ? weight : weight * this.#rampShare();
  }

  /** Connections in use, and queries that wait for one. */
  get inFlight(): number {
    return this.pool.numUsed() + this.pool.numPendingAcquires();
  }

  get latencyMillis(): number {
    return this.#latency.millis;
  }

  get served(): ServedStats {
    return { reads: this.#reads, writes: this.#writes, connectErrors: this.#connectErrors };
  }

  /** Takes over what a list of hosts says anew; connections that are open stay so. */
  reconfigure(settings: HostSettings): void {
    this.#settings = settings;
  }

  /** Lets the share of the reads, and the connections, grow from little, as after a recovery. */
  startSlowly(millis: number): void {
    this.#slowStart = { health: this.health, millis };
    // How long its queries took tells of the time before, and not least of its end.
    this.#latency.forget();
    this.pool.gate.beCareful(() => this.#slowStart !== undefined && this.#rampShare() < 1);
  }

  /** Whether a connection's own server may take writes as the primary: a name can stand for several. */
  isPrimaryConnection(connection: Connection): boolean {
    const facts = serverFacts(connection);
    if (facts?.role === 'replica') return false;
    const probed = this.report?.server;
    return facts?.server === undefined || probed === undefined || facts.server === probed;
  }

  /** Uses none of the open connections again; what runs on them may go on for a while. */
  replaceConnections(): void {
    const left = this.pool.inUse;
    this.pool.renew();
    if (left.length === 0) return;
    this.#drains.begin((millis) => {
      const late = `${this.name} went out of use; what still ran ${millis} ms later was ended.`;
      const end = (connection: Connection): void => sever(connection, () => new SeveredError(late));
      const inUse = new Set(this.pool.inUse);
      for (const one of left) if (inUse.has(one)) void this.pool.takeAway(one, end);
    });
  }

  /** Ends every connection without its server, which has gone silent. */
  abandonConnections(reason: ErrorOfOne): void {
    this.pool.renew();
    this.pool.gate.dialling.giveUp(reason);
    for (const connection of this.pool.inUse) sever(connection, reason);
  }

  /** Ends every connection; what still runs on one after `millis` fails. */
  async end(millis: number): Promise<void> {
    const reason = (): Error =>
      new SeveredError(`${this.name} was destroyed: no answer within ${millis} ms.`);
    this.#drains.cancel();
    await this.pool.destroyWithin(millis, this.#clock, (connection) => sever(connection, reason));
  }

  /** Counts a query in; call {@link Host.finish} when it has ended, however it ended. */
  begin(isRead: boolean): void {
    this.#running++;
    if (isRead) this.#reads++;
    else this.#writes++;
  }

  /** Counts a query out. */
  finish(startedAt: number, clock: Clock): void {
    this.#running--;
    const now = clock.now();
    this.#latency.note(now - startedAt, now);
    if (this.#running === 0) this.#idleWaiters.wakeAll();
  }

  /** Keeps why a connection could not be opened, for errors and snapshots. */
  failed(error: Error): void {
    this.#connectErrors++;
    this.lastError = error;
  }

  /** Resolves once no query runs on the host, or after `millis`. */
  idle(millis: number, clock: Clock): Promise<boolean> {
    if (this.#running === 0) return Promise.resolve(true);
    return this.#idleWaiters.wait(millis, clock);
  }

  #rampShare(): number {
    if (this.#slowStart === undefined) return 1;

    const { health, millis } = this.#slowStart;
    const share = rampShare(health, this.#clock.now(), millis);
    if (share >= 1) this.#slowStart = undefined;
    return share;
  }
}

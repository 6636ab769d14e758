import type { Clock } from '../clock.ts';
import type { Mark } from '../consistency/mark.ts';
import type { Positions } from '../consistency/positions.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { serverFacts } from '../hosts/server-facts.ts';

/**
 * What is known of a replica: it has replayed what a read needs, it may have (a check has to say),
 * or it can't have.
 */
export type Freshness = 'fresh' | 'unsure' | 'behind';

// For how long a measured lag says that a check is bound to fail: then a read finds out.
const LAG_MILLIS = 1000;

// What is kept of the time of a read that waits for a replica, to turn to the primary.
const MOMENT_MILLIS = 10;

// How long a read that waits leaves a replica alone that refused it, at most.
const MOST_PAUSE_MILLIS = 200;

/** What a {@link Need} is made of. */
export interface NeedParts {
  /** What a replica must have replayed; undefined where only the primary will do. */
  readonly mark: Mark | undefined;
  /** When that came to be needed, on the clock. */
  readonly since: number;
  /** Until when the read may wait for a replica rather than go to the primary, on the clock. */
  readonly waitUntil: number;
  /** Until when it may wait for a host that has it where the primary can't serve it, on the clock. */
  readonly giveUpAt: number;
  readonly positions: Positions;
  readonly clock: Clock;
}

/** What the host of a read must have. */
export class Need {
  readonly mark: Mark | undefined;
  readonly waitUntil: number;
  readonly giveUpAt: number;
  readonly #since: number;
  readonly #positions: Positions;
  readonly #clock: Clock;
  #wasRefused = false;
  #refusals = 0;
  #askAgainAt = 0;
  readonly #refusing = new Set<Host>();
  readonly #misleading = new Set<Host>();

  constructor({ mark, since, waitUntil, giveUpAt, positions, clock }: NeedParts) {
    this.mark = mark;
    this.waitUntil = waitUntil;
    this.giveUpAt = giveUpAt;
    this.#since = since;
    this.#positions = positions;
    this.#clock = clock;
  }

  /** How long ago it came to be needed, in milliseconds. */
  get ageMillis(): number {
    return this.#clock.now() - this.#since;
  }

  /** In words, why a read goes to the primary. */
  get reason(): string {
    return this.mark === undefined
      ? 'the position of what its session wrote is not known'
      : 'no replica is known to have what its session wrote or saw';
  }

  /** Says what is known of a replica, by the server that is probed under its name. */
  of(host: Host): Freshness {
    const { mark } = this;
    if (mark === undefined || this.#refusing.has(host) || this.#misleading.has(host)) {
      return 'behind';
    }

    const { report, reportedAt, lag, catchUp } = host;
    const server = report?.server;
    if (server !== undefined) {
      if (this.#positions.hasReached(server, mark)) return 'fresh';
      // Nothing shows that it follows the server that has written what is needed.
      const timeline = this.#positions.timelineOf(server);
      if (timeline !== undefined && timeline !== mark.timeline) return 'behind';
    }
    const now = this.#clock.now();
    const { ageMillis } = this;
    if (this.#isSpent(now) || catchUp.isHopeless(ageMillis, now)) return 'behind';
    const lagMillis = now - reportedAt < LAG_MILLIS ? (lag?.millis ?? 0) : 0;
    return ageMillis < lagMillis ? 'behind' : 'unsure';
  }

  /**
   * Whether the read may wait for a replica rather than go to the primary: that needs a moment, too,
   * before the whole time is up.
   */
  mayWait(deadline: number): boolean {
    const end = Math.min(deadline, this.giveUpAt) - MOMENT_MILLIS;
    return this.#clock.now() < Math.min(this.waitUntil, end);
  }

  /** Notes that a host was found to lack it, so that this read goes elsewhere. */
  noteRefused(host: Host): void {
    this.#wasRefused = true;
    // It looks fresh by its name, of which another server was probed.
    const isOther = this.of(host) === 'fresh';
    this.#askAgainAt =
      this.#clock.now() + Math.min(MOST_PAUSE_MILLIS, MOMENT_MILLIS * 2 ** this.#refusals++);
    (isOther ? this.#misleading : this.#refusing).add(host);
  }

  /** Lets hosts be asked again, after a wait, that may have caught up. */
  lookAgain(): void {
    if (this.#clock.now() >= this.#askAgainAt) this.#refusing.clear();
  }

  /** Says what is known of the very server that a connection leads to. */
  on(connection: Connection): Freshness {
    const server = serverFacts(connection)?.server;
    if (server === undefined || this.mark === undefined) return 'behind';
    return this.#positions.hasReached(server, this.mark) ? 'fresh' : 'unsure';
  }

  /** Whether a replica that has come so far has what is needed. */
  isMetBy({ timeline, lsn }: Mark): boolean {
    return timeline === this.mark?.timeline && lsn >= this.mark.lsn;
  }

  /** Whether the server of a connection is known to follow the needed timeline. */
  isOnTimeline(connection: Connection): boolean {
    const server = serverFacts(connection)?.server;
    return server !== undefined && this.#positions.timelineOf(server) === this.mark?.timeline;
  }

  #isSpent(now: number): boolean {
    return this.#wasRefused && now >= this.giveUpAt;
  }
}

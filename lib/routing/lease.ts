import type { Clock } from '../clock.ts';
import type { Connection, Host } from '../hosts/host.ts';
import type { Session } from '../consistency/session.ts';
import type { HostRole } from '../events.ts';
import type { KeptConnection } from './kept-connection.ts';
import type { LockUse } from '../sql/verdict.ts';
import type { WantedState } from '../state/wanted-state.ts';
import type { Acquired } from './acquire.ts';
import type { Need } from './need.ts';
import type { Route, RouteRequest } from './route.ts';

/** An unlock statement, which only the session that holds the lock can run. */
export interface Unlock {
  readonly use: LockUse;
  /** Whether it may be tried on one session after the other. */
  readonly isBare: boolean;
  /** The kept connections besides the lease's own, the last kept first. */
  readonly others: readonly KeptConnection[];
}

/** Where a lease's statements run, and why. */
export interface LeaseDescription {
  readonly host: string;
  readonly role: HostRole;
  readonly reason: string;
}

/** One attempt to run a statement, as errors show it. */
export interface Attempt {
  readonly host: string;
  readonly role: HostRole;
  /** The SQLSTATE, or what Node calls the error, as in `ECONNRESET`; undefined where it has neither. */
  readonly code: string | undefined;
  readonly message: string;
}

/** Takes back the connection of an ended {@link Lease}; a promise where that needs the server. */
export type GiveBack = (lease: Lease) => Promise<void> | undefined;

/** What runs a query on the connection of a lease, wherever that moves. */
export interface ConnectionUser {
  connection: Connection | undefined;
}

/**
 * The use of one connection by one query or transaction.
 *
 * It goes back exactly once, to the pool that it came from, whoever ends the lease and however
 * often. A query that moves to another host keeps its lease.
 */
export class Lease {
  readonly route: Route;
  host: Host;
  connection: Connection;
  /** What the host was taken for when it was chosen, which its answer is judged by. */
  hostRole: HostRole;
  /** Whose connection is always that of the lease, until that ends. */
  user: ConnectionUser | undefined;
  /** Whether the primary may run what a replica refuses. */
  mayRerun: boolean;
  /** What the lease was asked for; undefined where it took over a connection. */
  request: RouteRequest | undefined;
  /** A query outside of transactions, with one statement, that may be sent again if it was not run. */
  mayRetry = false;
  /** A transaction, of which nothing counts until it is committed. */
  isTransaction = false;
  /** What its session is to be like; undefined for what the client usually wants. */
  state: WantedState | undefined;
  /** Whose reads have to see what it writes. */
  session: Session | undefined;
  /** Whether the position of what it writes, or sees, is captured. */
  isTracked = false;
  /** What a replica must have to serve it; undefined where any will do. */
  need: Need | undefined;
  /** It was moved to a host that has what its session wrote, or may have it. */
  isMoved = false;
  /** Whoever sent it by way of an application's own client class recovers what fails. */
  isGuarded = false;
  /** A monotonic session knows that it sees something. */
  isSeen = false;
  /** How often the primary had not written what a token tells of. */
  tokenDoubts = 0;
  /** The primary was asked for what a replica refused: it may have written. */
  mayHaveWritten = false;
  /** Up to where it wrote, if it did, is known or doubted. */
  isSettled = false;
  /** Hosts that failed the statement, and are not to be asked again. */
  tried: Set<Host> | undefined;
  /** Attempts that failed, for the error of the last one. */
  attempts: Attempt[] | undefined;
  /** Gives back the place that the connection takes of a share. */
  leave: (() => void) | undefined;
  /** What is left of the time that the query may wait for connections, in milliseconds. */
  acquireMillisLeft = 0;
  /** The text of the statement, as Knex compiled it. */
  text = '';
  /** The application took the connection by `client.acquireConnection()`, and may give it back. */
  isTaken = false;
  /** The statement was given up, and must not be sent again. */
  isCancelled = false;
  /** A statement of the lease changed the catalog. */
  changesCatalog = false;
  /** Set where the statement unlocks: it goes from one kept connection to the next. */
  unlock: Unlock | undefined;
  /** The connection may hold session-level advisory locks. */
  mayHoldLocks = false;
  /** All that its stream had to say was read. */
  isReadToEnd = false;
  /** Gives back the place that was reserved for the connection among those that hold locks. */
  lockPlace: (() => void) | undefined;
  /** What Knex's events show of where it runs, made on demand. */
  description: LeaseDescription | undefined;
  /** The statement now on its way to the server. */
  running: Promise<unknown> | undefined;
  readonly #clock: Clock;
  readonly #giveBack: GiveBack;
  #startedAt: number;
  #isReleased = false;
  #isLoose = false;

  constructor(route: Route, host: Host, connection: Connection, clock: Clock, giveBack: GiveBack) {
    this.route = route;
    this.host = host;
    this.connection = connection;
    this.hostRole = host.role;
    this.#clock = clock;
    this.#giveBack = giveBack;
    this.mayRerun = route.mayRerun;
    this.#startedAt = clock.now();
    host.begin(route.intent === 'read');
  }

  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Ends the lease; every call but the first does nothing. */
  release(): Promise<void> | undefined {
    if (this.#isReleased) return undefined;

    this.#isReleased = true;
    // What outlives its query in memory, as a lease may, must not keep all of the query with it: the
    // collector would copy each of them.
    this.user = undefined;
    this.running = undefined;
    if (this.#isLoose) return undefined;
    this.host.finish(this.#startedAt, this.#clock);
    return this.#giveBack(this);
  }

  /** Whether it has given its connection back, and has yet to get another one. */
  get isLoose(): boolean {
    return this.#isLoose;
  }

  /** Gives the connection back ahead of a move: who waits for another one must hold none. */
  letGo(): void {
    if (this.#isLoose || this.#isReleased) return;

    this.#isLoose = true;
    this.host.finish(this.#startedAt, this.#clock);
    void this.#giveBack(this);
    // Nobody's, so that what is done to it (a cancel, a mark of Knex) harms nobody.
    if (this.user !== undefined) this.user.connection = this;
  }

  /** Gives the connection back and goes on with another one. */
  move({ host, connection, leave }: Acquired): void {
    this.letGo();
    this.#isLoose = false;
    this.host = host;
    this.connection = connection;
    this.hostRole = host.role;
    this.leave = leave;
    this.description = undefined;
    this.#startedAt = this.#clock.now();
    host.begin(this.route.intent === 'read');
    if (this.user !== undefined) this.user.connection = connection;
    // Given up just now: nobody would give this one back.
    if (!this.#isReleased) return;
    host.finish(this.#startedAt, this.#clock);
    void this.#giveBack(this);
  }
}

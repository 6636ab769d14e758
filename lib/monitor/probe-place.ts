import type { Clock } from '../clock.ts';
import type { ServerBudget } from '../hosts/server-budget.ts';
import { Waiters } from '../hosts/waiters.ts';
import { judgeConnectError } from '../routing/failure.ts';
import type { ProbeOutcome } from './probe.ts';
import type { SharedProbe } from './shared-probe.ts';

/** What a probe found, and when it began. */
export interface DatedOutcome {
  readonly outcome: ProbeOutcome;
  readonly at: number;
}

/** The one connection that the probes of all clients have to a server with a budget. */
export class ProbePlace {
  readonly budget: ServerBudget;
  /** Whose connection it is. */
  holder: SharedProbe | undefined;
  /** How often it was dialled. */
  dials = 0;
  /** When it was given up last, to be dialled anew. */
  renewedAt: number = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #sharers = new Set<SharedProbe>();
  readonly #waiters: Waiters = new Waiters();
  #isTaken = false;
  #last: DatedOutcome | undefined;
  #isOneServer = true;

  constructor(budget: ServerBudget, clock: Clock) {
    this.budget = budget;
    this.#clock = clock;
  }

  /** Whether what one client is told holds for the others: behind a pooler, databases can be of several servers. */
  get isOneServer(): boolean {
    return this.#isOneServer;
  }

  /** Lets a client's probe share it. */
  join(probe: SharedProbe): void {
    this.#sharers.add(probe);
  }

  /** Ends a client's part. */
  leave(probe: SharedProbe): void {
    this.#sharers.delete(probe);
    if (this.holder === probe) this.holder = undefined;
  }

  /** Tells every client that the connection was lost. */
  noteLost(): void {
    for (const probe of this.#sharers) probe.onLost();
  }

  /**
   * What a probe found that began at that time or later.
   *
   * @param patienceMillis how long a server may be silent before that is an answer.
   */
  foundSince(time: number, patienceMillis: number): DatedOutcome | undefined {
    const last = this.#last;
    if (last === undefined || last.at < time) return undefined;
    return isPatient(last.outcome, patienceMillis) ? last : undefined;
  }

  /**
   * Keeps what a probe found, if it is about the server and not about whoever asked.
   *
   * @returns whether it is, for somebody of that patience.
   */
  note({ outcome, at }: DatedOutcome, patienceMillis: number): boolean {
    if (outcome.isGood) {
      if (outcome.isNewConnection) this.dials++;
      this.#isOneServer = outcome.report.hasTrueProcessIds;
    }
    if (!this.#isOneServer || !isOfServer(outcome)) return false;
    this.#last = { outcome, at };
    return isPatient(outcome, patienceMillis);
  }

  /**
   * Waits for the connection to be one's own to use, or to change; false after `millis`.
   *
   * @param since when the last answer is of: who has had none for longest comes first.
   */
  take(millis: number, since: number): Promise<boolean> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return Promise.resolve(true);
    }
    return this.#waiters.wait(millis, this.#clock, { isQuery: false, rank: since });
  }

  /** Lets the next one have it. */
  giveBack(): void {
    if (!this.#waiters.wakeOne()) this.#isTaken = false;
  }
}

// Who is refused for a name or a password learns nothing for others, nor does who logs in slowly: only
// a server that hasn't sent one byte keeps silent to all.
function isOfServer(outcome: ProbeOutcome): boolean {
  if (outcome.isGood) return true;
  const { isTimeout, isOfApplication, silentMillis, error } = outcome;
  if (isOfApplication) return false;
  const { host } = judgeConnectError(error);
  if (host === 'starting' && !isTimeout) return true;
  return silentMillis !== undefined && (isTimeout || host === 'network');
}

// A probe's own time begins a little before that of its connection.
const ENOUGH = 0.9;

function isPatient(outcome: ProbeOutcome, patienceMillis: number): boolean {
  if (outcome.isGood || !outcome.isTimeout) return true;
  return (outcome.silentMillis ?? 0) >= patienceMillis * ENOUGH;
}

const places = new WeakMap<ServerBudget, ProbePlace>();

/** The place of the probes of a server. */
export function probePlace(budget: ServerBudget, clock: Clock): ProbePlace {
  const known = places.get(budget);
  if (known !== undefined) return known;
  const made = new ProbePlace(budget, clock);
  places.set(budget, made);
  return made;
}

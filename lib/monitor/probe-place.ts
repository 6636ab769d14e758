import type { Clock } from '../clock.ts';
import type { ServerBudget } from '../hosts/server-budget.ts';
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
  readonly #waiting = new Set<() => void>();
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

  /** What a probe found that began at that time or later. */
  foundSince(time: number): DatedOutcome | undefined {
    return this.#last !== undefined && this.#last.at >= time ? this.#last : undefined;
  }

  /**
   * Keeps what a probe found, if it is about the server and not about whoever asked.
   *
   * @returns whether it is.
   */
  note(outcome: ProbeOutcome, at: number): boolean {
    if (outcome.isGood) {
      if (outcome.isNewConnection) this.dials++;
      this.#isOneServer = outcome.report.hasTrueProcessIds;
    }
    if (!this.#isOneServer || !isOfServer(outcome)) return false;
    this.#last = { outcome, at };
    return true;
  }

  /** Waits for the connection to be one's own to use, or to change; false after `millis`. */
  take(millis: number): Promise<boolean> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (isMine: boolean): void => {
        stopWaiting();
        this.#waiting.delete(wake);
        resolve(isMine);
      };
      const wake = (): void => settle(true);
      const stopWaiting = this.#clock.after(millis, () => settle(false));
      this.#waiting.add(wake);
    });
  }

  /** Lets the next one have it. */
  giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#isTaken = false;
    else next();
  }
}

// Who is refused for a name or a password learns nothing for others; to all, an address is as silent.
function isOfServer(outcome: ProbeOutcome): boolean {
  if (outcome.isGood || outcome.isTimeout) return true;
  if (outcome.isOfApplication) return false;
  const { host } = judgeConnectError(outcome.error);
  return host === 'network' || host === 'starting';
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

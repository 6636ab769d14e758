import type { Clock } from '../clock.ts';
import type { BudgetMember } from './budget-member.ts';
import { ProbeCount } from './probe-count.ts';
import { ServerSlot } from './server-slot.ts';

/**
 * So long a connection serves its own pool before another one's request may have its place.
 *
 * To close one and to open another takes as long as many queries: pools that are all busy change
 * over this often, and not with every query.
 */
export const TURN_MILLIS = 50;

// Whoever takes longer to open or to close is waited for by nobody else.
const CHANGE_MILLIS = 500;

/** What is taken of the connections to a server. */
export interface BudgetStats {
  /** As many as may be: `maxPerServer`. */
  readonly max: number;
  /** Connections of all clients, the probe's included, and those that are being opened and closed. */
  readonly used: number;
  /** How many more the requests that wait would open. */
  readonly waiting: number;
}

/**
 * The connections of this process to one server, shared by pools of several databases and users.
 *
 * Who waits longest comes first, whichever pool it asks; one place is the probe's.
 */
export class ServerBudget {
  readonly address: string;
  /** The connections of probes. */
  readonly probes: ProbeCount;
  max: number;
  readonly #clock: Clock;
  readonly #onEmpty: () => void;
  readonly #members = new Set<BudgetMember>();
  readonly #slots = new Map<ServerSlot, BudgetMember>();
  #isServing = false;
  #mustRepeat = false;
  #cancelTimer: (() => void) | undefined;

  /** @param onEmpty told when nobody takes part any more, and no connection is left. */
  constructor(address: string, max: number, clock: Clock, onEmpty: () => void) {
    this.address = address;
    this.max = max;
    this.#clock = clock;
    this.#onEmpty = onEmpty;
    this.probes = new ProbeCount(clock, () => this.#look());
  }

  get stats(): BudgetStats {
    let waiting = 0;
    for (const { demand } of this.#members) waiting += demand;
    return { max: this.max, used: this.#slots.size + this.probes.size, waiting };
  }

  /** Whether a pool takes part. */
  get hasMembers(): boolean {
    return this.#members.size > 0;
  }

  /** Whether every place of the pools is taken. */
  get isUsedUp(): boolean {
    return this.#slots.size >= this.max - 1;
  }

  /** Whether a further connection could be opened without waiting for a query to end. */
  get hasRoom(): boolean {
    return !this.isUsedUp || [...this.#members].some(({ idleSince }) => idleSince !== undefined);
  }

  /** Who holds how many connections, the largest first. */
  get holders(): readonly (readonly [label: string, count: number])[] {
    const counts = new Map<string, number>();
    for (const { label } of this.#slots.values()) counts.set(label, (counts.get(label) ?? 0) + 1);
    return [...counts].toSorted(([, one], [, other]) => other - one);
  }

  /** Lets a pool take part. */
  join(member: BudgetMember): void {
    this.#members.add(member);
  }

  /** Ends a pool's part; its connections count until they are closed. */
  leave(member: BudgetMember): void {
    this.#members.delete(member);
    this.#look();
  }

  /** Gives out what is free, and makes room for who waits. */
  serve(): void {
    this.#mustRepeat = this.#isServing;
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      do {
        this.#mustRepeat = false;
        this.#giveOut();
        this.#makeRoom();
      } while (this.#mustRepeat);
    } finally {
      this.#isServing = false;
    }
  }

  /** Whether a connection that is given back to a pool is to be closed for who waits longer elsewhere. */
  isOwed(by: BudgetMember): boolean {
    if (!this.isUsedUp || this.#changing() >= this.#mostChanging) return false;
    const { waitsSince } = by;
    const latest = this.#clock.now() - TURN_MILLIS;
    let owed = -this.#coming();
    for (const member of this.#members) {
      if (member === by || member.demand === 0) continue;
      const { demand, demandSince } = member;
      if (demandSince < waitsSince && demandSince <= latest) owed += demand;
    }
    return owed > 0;
  }

  #giveOut(): void {
    while (!this.isUsedUp) {
      const [first] = this.#waiting();
      if (first === undefined) return;
      const slot = new ServerSlot(this.#clock, {
        onFree: (freed) => {
          this.#slots.delete(freed);
          this.#look();
        },
      });
      this.#slots.set(slot, first);
      first.open(slot);
    }
  }

  #makeRoom(): void {
    const waiting = this.#waiting();
    let coming = this.#coming();
    for (const { demand, demandSince } of waiting) {
      for (let count = 0; count < demand; count++) {
        if (coming-- > 0) continue;
        if (!this.#endIdle(demandSince)) return this.#serveLater();
      }
    }
  }

  #endIdle(demandSince: number): boolean {
    let longest: BudgetMember | undefined;
    let since = Number.POSITIVE_INFINITY;
    for (const member of this.#members) {
      const { idleSince = Number.POSITIVE_INFINITY } = member;
      if (idleSince < since) [longest, since] = [member, idleSince];
    }
    // One that was used a moment ago is about to be used again.
    if (longest === undefined) return false;
    if (Math.min(since, demandSince) > this.#clock.now() - TURN_MILLIS) return false;
    longest.endIdle();
    return true;
  }

  // Those whose turn is about to come are told by nothing else.
  #serveLater(): void {
    this.#cancelTimer ??= this.#clock.after(TURN_MILLIS, () => {
      this.#cancelTimer = undefined;
      this.serve();
    });
  }

  #waiting(): readonly BudgetMember[] {
    return [...this.#members]
      .filter(({ demand }) => demand > 0)
      .toSorted((one, other) => one.demandSince - other.demandSince);
  }

  #coming(): number {
    return [...this.#slots.keys()].filter(({ isClosing }) => isClosing).length;
  }

  // Where all are busy, most go on while a few change over: that takes longer than many queries.
  get #mostChanging(): number {
    return Math.ceil(this.max / 4);
  }

  #changing(): number {
    const latest = this.#clock.now() - CHANGE_MILLIS;
    const slots = [...this.#slots.keys()];
    return slots.filter(({ changesSince = latest }) => changesSince > latest).length;
  }

  #look(): void {
    this.serve();
    if (this.#members.size > 0 || this.#slots.size > 0 || this.probes.size > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#onEmpty();
  }
}

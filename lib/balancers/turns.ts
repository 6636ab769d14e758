import type { HostView, NonEmpty } from './balancer.ts';

/** Keeps the scale of turns finite where a weight is next to nothing. */
const LONGEST_TURN = 1_000_000;

/**
 * Hands out turns in proportion to the hosts' weights, among those that score lowest.
 *
 * Every turn of a host lies `1 / weight` after its one before on a common scale, and the turn that
 * is due first is next: equal hosts go in rotation, heavy ones are spread out (`a b a`, not `a a b`),
 * and a host that leaves takes nothing with it that its neighbour would inherit.
 */
export class Turns {
  /** Where on the scale each host had its last turn. */
  readonly #last = new Map<string, number>();
  readonly #random: () => number;
  #now = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  pick<H extends HostView>(hosts: NonEmpty<H>, score: (host: HostView) => number): H {
    return this.#pick(hosts, score, weightOf) ?? this.#pick(hosts, score, () => 1) ?? hosts[0];
  }

  // One pass over the hosts, however many there are; undefined where none weighs anything.
  #pick<H extends HostView>(
    hosts: NonEmpty<H>,
    score: (host: HostView) => number,
    weigh: (host: HostView) => number,
  ): H | undefined {
    let chosen: H | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    let earliest = Number.POSITIVE_INFINITY;
    let turnOfChosen = 0;

    for (const host of hosts) {
      const weight = weigh(host);
      if (weight === 0) continue;
      const points = score(host);
      if (points > lowest) continue;

      const turn = Math.min(1 / weight, LONGEST_TURN);
      // From the weight of this moment, so that a host ramping up need not sit out a long early turn.
      const due = this.#lastTurn(host.name, turn) + turn;
      if (points < lowest || due < earliest) {
        chosen = host;
        lowest = points;
        earliest = due;
        turnOfChosen = turn;
      }
    }
    if (chosen === undefined) return undefined;

    // A host that was away, or scored too high, is overdue: it goes first, but however long it was
    // away it is owed no more than half a turn, so that it does not return to a burst.
    this.#last.set(chosen.name, Math.max(earliest, this.#now - turnOfChosen / 2));
    this.#now = Math.max(this.#now, earliest);
    return chosen;
  }

  #lastTurn(name: string, turn: number): number {
    const known = this.#last.get(name);
    if (known !== undefined) return known;

    this.#forgetOverdue();
    // Somewhere within the first turn, so that many processes do not start at the same host.
    const last = this.#now - turn * (1 - this.#random());
    this.#last.set(name, last);
    return last;
  }

  /** Keeps the map from growing as discovered hosts come and go. */
  #forgetOverdue(): void {
    if (this.#last.size < 64) return;

    for (const [name, last] of this.#last) {
      if (last < this.#now - 64) this.#last.delete(name);
    }
  }
}

function weightOf(host: HostView): number {
  return host.weight;
}

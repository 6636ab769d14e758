import type { Balancer, HostView, NonEmpty } from './balancer.ts';
import { Turns } from './turns.ts';

/** One query in so many goes to a host by turn, whatever its latency. */
const EXPLORE_ONE_IN = 32;

/** Averages of the same queries on equal hosts differ by up to this factor, since few queries make them. */
const CHANCE = 3;

/**
 * Takes the host that is expected to answer soonest: its average latency, and as much again for each
 * query that is already there, divided by its weight. Hosts that are equally fast, but for what may
 * be chance, take turns: whoever had luck would get everything, of every process.
 *
 * A host without a measured latency is asked at once, one query at a time. Now and then a host is
 * taken by turn alone, since a host that is never asked could never be seen to be fast again.
 */
export class LeastLatencyBalancer implements Balancer {
  readonly #turns: Turns;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#turns = new Turns(random);
    this.#random = random;
  }

  pick<H extends HostView>(hosts: NonEmpty<H>): H {
    const explores = this.#random() * EXPLORE_ONE_IN < 1;
    if (explores) return this.#turns.pick(hosts, () => 0);

    const alike = CHANCE * lowestLatency(hosts);
    return this.#turns.pick(hosts, (host) => expectedLatency(host, alike));
  }
}

function lowestLatency(hosts: NonEmpty<HostView>): number {
  let lowest = Number.MAX_VALUE;
  for (const { latencyMillis } of hosts) {
    if (latencyMillis > 0 && latencyMillis < lowest) lowest = latencyMillis;
  }
  return lowest;
}

function expectedLatency({ latencyMillis, inFlight, weight }: HostView, alike: number): number {
  // While the first answer is awaited nothing says that more queries would be welcome.
  if (latencyMillis === 0) return inFlight === 0 ? 0 : Number.MAX_VALUE;

  // A heavy host works on more at a time, but answers none the sooner for it.
  return Math.max(latencyMillis, alike) * (1 + inFlight / (weight || 1));
}

import type { Balancer, HostView, NonEmpty } from './balancer.ts';
import { Turns } from './turns.ts';

/** One query in so many goes to a host by turn, whatever its latency. */
const EXPLORE_ONE_IN = 32;

/**
 * Takes the host that is expected to answer soonest: its average latency, and as much again for each
 * query that is already there, divided by its weight.
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
    return this.#turns.pick(hosts, explores ? () => 0 : expectedLatency);
  }
}

function expectedLatency(host: HostView): number {
  // While the first answer is awaited nothing says that more queries would be welcome.
  if (host.latencyMillis === 0) return host.inFlight === 0 ? 0 : Number.MAX_VALUE;

  // A heavy host works on more at a time, but answers none the sooner for it.
  return host.latencyMillis * (1 + host.inFlight / (host.weight || 1));
}

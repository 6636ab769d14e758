import type { Balancer, HostView, NonEmpty } from './balancer.ts';
import { Turns } from './turns.ts';

/** Takes the host with the fewest queries in flight for its weight; equally busy hosts take turns. */
export class LeastConnectionsBalancer implements Balancer {
  readonly #turns: Turns;

  constructor(random: () => number) {
    this.#turns = new Turns(random);
  }

  pick<H extends HostView>(hosts: NonEmpty<H>): H {
    return this.#turns.pick(hosts, load);
  }
}

function load(host: HostView): number {
  return host.weight === 0 ? host.inFlight : host.inFlight / host.weight;
}

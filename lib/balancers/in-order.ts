import type { Balancer, HostView, NonEmpty } from './balancer.ts';
import { Turns } from './turns.ts';

/** Takes the first offered host in the order of configuration, the others only while it is away. */
export class InOrderBalancer implements Balancer {
  readonly #turns: Turns;

  constructor(random: () => number) {
    this.#turns = new Turns(random);
  }

  pick<H extends HostView>(hosts: NonEmpty<H>): H {
    return this.#turns.pick(hosts, (host) => host.order);
  }
}

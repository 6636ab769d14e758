import type { Balancer, HostView, NonEmpty } from './balancer.ts';
import { Turns } from './turns.ts';

/** Takes the hosts in turn, each as often as its weight says, beginning at a random one. */
export class RoundRobinBalancer implements Balancer {
  readonly #turns: Turns;

  constructor(random: () => number) {
    this.#turns = new Turns(random);
  }

  pick<H extends HostView>(hosts: NonEmpty<H>): H {
    return this.#turns.pick(hosts, () => 0);
  }
}

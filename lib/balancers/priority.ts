import type { Balancer, HostView, NonEmpty } from './balancer.ts';
import { Turns } from './turns.ts';

/**
 * Takes the first `first` configured replicas in turn, and the others only while none of those is
 * offered.
 */
export class PriorityBalancer implements Balancer {
  readonly #turns: Turns;
  readonly #first: number;

  constructor(random: () => number, first: number) {
    this.#turns = new Turns(random);
    this.#first = first;
  }

  pick<H extends HostView>(hosts: NonEmpty<H>): H {
    return this.#turns.pick(hosts, (host) => (host.order < this.#first ? 0 : 1));
  }
}

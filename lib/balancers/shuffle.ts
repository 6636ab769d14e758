import type { Balancer, HostView, NonEmpty } from './balancer.ts';

/** Draws a host at random, each with a chance in proportion to its weight. */
export class ShuffleBalancer implements Balancer {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  pick<H extends HostView>(hosts: NonEmpty<H>): H {
    let total = 0;
    for (const host of hosts) total += host.weight;

    let chosen: H = hosts[0];
    let rest = this.#random() * (total || hosts.length);
    for (const host of hosts) {
      const share = total === 0 ? 1 : host.weight;
      if (share === 0) continue;

      // Rounding may leave a crumb behind the last share: it belongs to the last host that has one.
      chosen = host;
      rest -= share;
      if (rest < 0) break;
    }
    return chosen;
  }
}

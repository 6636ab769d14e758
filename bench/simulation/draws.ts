import { seededRandom } from '../../test/support/seeded-random.ts';

/** Numbers drawn from a seed: the same in every run. */
export class Draws {
  readonly uniform: () => number;

  constructor(seed: number) {
    this.uniform = seededRandom(seed);
  }

  /** The time until the next of events that come independently of each other. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  /** A time as servers take: most take about the median, few take many times as long. */
  lognormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.#normal());
  }

  // Box and Muller.
  #normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }
}

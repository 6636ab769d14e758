import type { HostView, NonEmpty } from '../../lib/balancers/balancer.ts';
import { compare, elapsed } from '../measure.ts';
import { type BalancerName, balancerNames, balancers } from './balancers.ts';
import { Draws } from './draws.ts';

/** How many hosts there are to pick from. */
export const pickSizes = [10, 100, 1000] as const;

/** What a pick costs by one balancer, for each size, as a multiple of one by `round-robin` of ten hosts. */
export interface PickCost {
  readonly balancer: BalancerName;
  readonly ratios: readonly number[];
}

// So many hosts are offered in a round, whatever the size.
const OFFERED = 50_000;

/**
 * Measures what one pick costs by each balancer, in real time.
 *
 * @param rounds how often each is measured; the median counts.
 */
export async function measurePicks(rounds: number): Promise<readonly PickCost[]> {
  const ways = balancerNames.flatMap((balancer) =>
    pickSizes.map((size) => ({ name: `${balancer} ${size}`, size, run: picker(balancer, size) })),
  );
  const millis = await compare(ways, { rounds, times: 1, meter: elapsed, quantile: 0.5 });
  const ofOnePick = (balancer: BalancerName, size: number): number =>
    (millis[`${balancer} ${size}`] ?? 0) / picksOf(size);
  const base = ofOnePick('round-robin', 10);
  return balancerNames.map((balancer) => ({
    balancer,
    ratios: pickSizes.map((size) => ofOnePick(balancer, size) / base),
  }));
}

function picksOf(size: number): number {
  return OFFERED / size;
}

function picker(name: BalancerName, size: number): () => Promise<void> {
  const draws = new Draws(1);
  const balancer = balancers[name](draws.uniform, size);
  const hosts = hostsFor(size, draws);
  return async () => {
    for (let left = picksOf(size); left > 0; left--) balancer.pick(hosts);
  };
}

function hostsFor(size: number, draws: Draws): NonEmpty<HostView> {
  const make = (order: number): HostView => ({
    name: `replica-${order + 1}`,
    weight: 1,
    order,
    inFlight: Math.floor(draws.uniform() * 3),
    latencyMillis: draws.lognormal(40, 0.3),
  });
  return [make(0), ...Array.from({ length: size - 1 }, (_, place) => make(place + 1))];
}

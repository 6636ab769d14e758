import type { Balancer } from '../../lib/balancers/balancer.ts';
import { InOrderBalancer } from '../../lib/balancers/in-order.ts';
import { LeastConnectionsBalancer } from '../../lib/balancers/least-connections.ts';
import { LeastLatencyBalancer } from '../../lib/balancers/least-latency.ts';
import { PriorityBalancer } from '../../lib/balancers/priority.ts';
import type { BuiltInBalancerName } from '../../lib/balancers/registry.ts';
import { RoundRobinBalancer } from '../../lib/balancers/round-robin.ts';
import { ShuffleBalancer } from '../../lib/balancers/shuffle.ts';

/** The name of one of the library's balancers. */
export type BalancerName = BuiltInBalancerName;

type Make = (random: () => number, size: number) => Balancer;

/** How many of so many replicas come first for the balancer `priority`. */
export function firstOf(size: number): number {
  return size / 2;
}

/** Makes the library's balancers for so many replicas. */
export const balancers: Readonly<Record<BalancerName, Make>> = {
  'round-robin': (random) => new RoundRobinBalancer(random),
  shuffle: (random) => new ShuffleBalancer(random),
  'least-connections': (random) => new LeastConnectionsBalancer(random),
  'least-latency': (random) => new LeastLatencyBalancer(random),
  priority: (random, size) => new PriorityBalancer(random, firstOf(size)),
  'in-order': (random) => new InOrderBalancer(random),
};

/** All of them, in the order in which they are shown. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys() forgets the names
export const balancerNames = Object.keys(balancers) as readonly BalancerName[];

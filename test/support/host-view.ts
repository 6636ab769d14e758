import type { Balancer, HostView, NonEmpty } from '../../lib/balancers/balancer.ts';

/** An idle host of weight 1 whose name gives its order: `a` is 0, `b` is 1, … */
export function hostView(name: string, more: Partial<HostView> = {}): HostView {
  const order = name.charCodeAt(0) - 'a'.charCodeAt(0);
  return { name, weight: 1, order, inFlight: 0, latencyMillis: 0, ...more };
}

/** The names of the hosts that the balancer picks, one after the other. */
export function picks(balancer: Balancer, hosts: NonEmpty<HostView>, times: number): string {
  return Array.from({ length: times }, () => balancer.pick(hosts).name).join('');
}

/** How often each host is picked. */
export function tally(
  balancer: Balancer,
  hosts: NonEmpty<HostView>,
  times: number,
): Record<string, number> {
  const counts = Object.fromEntries(hosts.map(({ name }) => [name, 0]));
  for (let i = 0; i < times; i++) {
    const { name } = balancer.pick(hosts);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

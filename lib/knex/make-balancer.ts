import type { Balancer } from '../balancers/balancer.ts';
import type { BalancerFactory } from '../balancers/registry.ts';
import { asError, ConfigError } from '../errors.ts';

const path = 'rwSplit.balancer';
const expected = 'it must return an object with a method pick(hosts)';

/**
 * Makes the balancer of a cluster. A factory may be the application's own: what it makes is checked
 * once, before the first query meets it.
 *
 * @throws {ConfigError} when the factory throws, or makes no balancer.
 */
export function makeBalancer(factory: BalancerFactory): Balancer {
  let balancer: Partial<Balancer> | undefined;
  try {
    balancer = factory();
  } catch (cause) {
    const { message } = asError(cause);
    throw new ConfigError(path, `${path} is a function that throws (${message}); ${expected}.`, {
      cause,
    });
  }

  if (typeof balancer?.pick === 'function') return balancer as Balancer;
  throw new ConfigError(path, `${path} is a function that makes no balancer; ${expected}.`);
}

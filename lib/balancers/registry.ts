import { ConfigError } from '../errors.ts';
import type { Balancer } from './balancer.ts';
import { InOrderBalancer } from './in-order.ts';
import { LeastConnectionsBalancer } from './least-connections.ts';
import { LeastLatencyBalancer } from './least-latency.ts';
import { PriorityBalancer } from './priority.ts';
import { RoundRobinBalancer } from './round-robin.ts';
import { ShuffleBalancer } from './shuffle.ts';

/** Makes the balancer of one cluster. Balancers keep state, so none is ever shared. */
export type BalancerFactory = () => Balancer;

/** The name of a balancer that comes with the package. */
export type BuiltInBalancerName =
  'round-robin' | 'shuffle' | 'priority' | 'least-connections' | 'least-latency' | 'in-order';

/** A registered name. `string & {}` accepts any while editors still suggest the built-in ones. */
export type BalancerName = BuiltInBalancerName | (string & {});

/** `'priority'` with the number of replicas that come first; the plain name means 1. */
export interface PriorityOption {
  readonly name: 'priority';
  readonly first: number;
}

/** What the option `balancer` accepts. */
export type BalancerOption = BalancerName | PriorityOption | BalancerFactory;

const path = 'rwSplit.balancer';

const builtIns: Record<BuiltInBalancerName, BalancerFactory> = {
  'round-robin': () => new RoundRobinBalancer(Math.random),
  shuffle: () => new ShuffleBalancer(Math.random),
  priority: () => new PriorityBalancer(Math.random, 1),
  'least-connections': () => new LeastConnectionsBalancer(Math.random),
  'least-latency': () => new LeastLatencyBalancer(Math.random),
  'in-order': () => new InOrderBalancer(Math.random),
};

const factories: Map<string, BalancerFactory> = new Map(Object.entries(builtIns));

/**
 * Gives a balancer a name, for configuration files that cannot hold code.
 *
 * @throws {ConfigError} when the name is empty or taken.
 */
export function registerBalancer(name: string, factory: BalancerFactory): void {
  if (typeof name !== 'string' || name === '') {
    throw new ConfigError(path, 'A balancer needs a name that is a non-empty string.');
  }
  if (factories.has(name)) {
    throw new ConfigError(
      path,
      `A balancer named "${name}" is already registered; choose another name.`,
    );
  }
  if (typeof factory !== 'function') {
    throw new ConfigError(
      path,
      `The balancer "${name}" needs a function that returns a balancer, not ${kindOf(factory)}.`,
    );
  }

  factories.set(name, factory);
}

/**
 * Turns the option `balancer` into what makes the cluster's balancer.
 *
 * @throws {ConfigError} when the option names no registered balancer or has no usable form.
 */
export function resolveBalancer(option: BalancerOption): BalancerFactory {
  if (typeof option === 'function') return option;
  if (typeof option === 'string') return named(option);
  if (typeof option === 'object' && option?.name === 'priority') return prioritized(option.first);

  throw new ConfigError(
    path,
    `${path} must be a name (${names()}), { name: 'priority', first: n } or a function that returns a balancer, not ${kindOf(option)}.`,
  );
}

function named(name: string): BalancerFactory {
  const factory = factories.get(name);
  if (factory === undefined) {
    throw new ConfigError(path, `${path} is "${name}"; it must be a registered name: ${names()}.`);
  }
  return factory;
}

function prioritized(first: number): BalancerFactory {
  if (!Number.isInteger(first) || first < 1) {
    throw new ConfigError(
      `${path}.first`,
      `${path}.first must be a whole number of at least 1, not ${String(first)}.`,
    );
  }
  return () => new PriorityBalancer(Math.random, first);
}

function names(): string {
  return [...factories.keys()].join(', ');
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}

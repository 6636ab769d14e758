import {
  type BalancerFactory,
  type BalancerOption,
  resolveBalancer,
} from '../balancers/registry.ts';
import { invalidOption } from './invalid-option.ts';
import {
  preparedRange,
  severalRange,
  shareRange,
  weightRange,
  wholeNumber,
} from './number-range.ts';
import type { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import { PoolRegistry } from './pool-registry.ts';
import { resolveConsistency } from './resolve-consistency.ts';
import { resolveFunctions } from './resolve-functions.ts';
import { resolveDiscovery, resolveFailover, resolveHealth } from './resolve-health.ts';
import { resolveMaxLag } from './resolve-max-lag.ts';
import { resolveState } from './resolve-state.ts';
import type { RoutingSettings } from './settings.ts';

const balancerForms = "a name, { name: 'priority', first: n } or a function that makes a balancer";
const targets = ['split', 'primary', 'replica', 'prefer-replica', 'any'] as const;

/**
 * Completes all options but the hosts; `reader` stands on `rwSplit`.
 *
 * @throws {ConfigError} when an option has a value that is not allowed.
 */
export function resolveRouting(reader: OptionReader): RoutingSettings {
  const target = reader.choice('target', 'split', targets);

  return Object.freeze({
    target,
    balancer: resolveBalancer(readBalancer(reader)),
    primaryReads: readPrimaryReads(reader),
    fallback: reader.choice('fallback', 'primary', ['primary', 'error']),
    fallbackShare: reader.number('fallbackShare', 0.5, shareRange),
    maxLag: resolveMaxLag(reader),
    consistency: resolveConsistency(reader, target),
    health: resolveHealth(reader.group('health')),
    failover: resolveFailover(reader.group('failover')),
    discovery: resolveDiscovery(reader.group('discovery')),
    functions: resolveFunctions(reader.group('functions')),
    state: resolveState(reader),
    pools: readPools(reader),
    maxPerServer: reader.number('maxPerServer', undefined, severalRange),
    prepare: readPrepare(reader),
    pooler: reader.choice('pooler', undefined, ['session']),
  });
}

/**
 * Checks that `priority` does not put more replicas first than there are.
 *
 * @throws {ConfigError} when it does.
 */
export function checkPriority(option: unknown, replicas: number): void {
  if (!isOptionsObject(option) || option['name'] !== 'priority') return;
  const { first } = option;
  if (typeof first === 'number' && first > replicas) {
    throw invalidOption(
      'rwSplit.balancer.first',
      first,
      `at most ${replicas}, the number of replicas`,
    );
  }
}

// The registry knows the names; only the form is checked here.
function readBalancer(reader: OptionReader): BalancerOption {
  const value = reader.read('balancer') ?? 'round-robin';
  if (typeof value === 'string') return value;
  if (isBalancerFactory(value)) return value;
  if (!isOptionsObject(value)) throw invalidOption(reader.pathOf('balancer'), value, balancerForms);

  const group = reader.group('balancer');
  const name = group.choice('name', undefined, ['priority']);
  const first = group.number('first', undefined, wholeNumber);
  group.finish();
  if (name === undefined || first === undefined) {
    throw invalidOption(reader.pathOf('balancer'), value, balancerForms);
  }
  return { name, first };
}

function isBalancerFactory(value: unknown): value is BalancerFactory {
  return typeof value === 'function';
}

function readPrimaryReads(reader: OptionReader): number {
  const value = reader.read('primaryReads');
  if (typeof value === 'boolean') return value ? 1 : 0;
  const range = { ...weightRange, allowed: `true, false or ${weightRange.allowed}` };
  return reader.number('primaryReads', 0, range);
}

function readPools(reader: OptionReader): string | PoolRegistry | undefined {
  const value = reader.read('pools');
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  if (value instanceof PoolRegistry) return value;
  throw invalidOption(reader.pathOf('pools'), value, 'a name or a PoolRegistry of this package');
}

function readPrepare(reader: OptionReader): { readonly max: number } | false {
  const value = reader.read('prepare') ?? false;
  if (value === false) return false;
  if (!isOptionsObject(value)) {
    throw invalidOption(reader.pathOf('prepare'), value, 'false or { max }');
  }

  const group = reader.group('prepare');
  const max = group.number('max', undefined, preparedRange);
  group.finish();
  if (max === undefined) throw invalidOption(group.pathOf('max'), max, preparedRange.allowed);
  return Object.freeze({ max });
}

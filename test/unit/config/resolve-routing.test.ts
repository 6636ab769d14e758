import { describe, expect, it } from '@jest/globals';
import { resolveBalancer } from '../../../lib/balancers/registry.ts';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import { PoolRegistry } from '../../../lib/config/pool-registry.ts';
import { checkPriority, resolveRouting } from '../../../lib/config/resolve-routing.ts';
import type { RoutingSettings } from '../../../lib/config/settings.ts';

function resolve(options: Record<string, unknown>): RoutingSettings {
  const reader = new OptionReader(options, 'rwSplit');
  const settings = resolveRouting(reader);
  reader.finish();
  return settings;
}

function factory(): RoundRobinBalancer {
  return new RoundRobinBalancer(Math.random);
}

const registry = new PoolRegistry('shared');

describe('resolveRouting', () => {
  it('is frozen through and through', () => {
    const settings = resolve({ prepare: { max: 5 }, state: { searchPath: ['a'] } });

    const objects: unknown[] = [settings];
    for (const value of objects) {
      expect(Object.isFrozen(value)).toBe(true);
      objects.push(
        ...Object.values(Object(value)).filter((item) => typeof item === 'object' && item),
      );
    }
    expect(objects.length).toBeGreaterThan(10);
  });

  it.each<[string, unknown, unknown]>([
    ['target', 'prefer-replica', 'prefer-replica'],
    ['primaryReads', true, 1],
    ['primaryReads', false, 0],
    ['primaryReads', 0.5, 0.5],
    ['fallback', 'error', 'error'],
    ['fallbackShare', 1, 1],
    ['maxLag', false, false],
    ['maxLag', {}, { millis: 60_000 }],
    ['maxLag', { bytes: 10 }, { bytes: 10 }],
    ['maxLag', { millis: 1, bytes: 0 }, { millis: 1, bytes: 0 }],
    ['failover', { waitMillis: 0 }, { waitMillis: 0 }],
    ['discovery', { intervalMillis: 1 }, { intervalMillis: 1 }],
    ['pools', 'shared', 'shared'],
    ['pools', registry, registry],
    ['maxPerServer', 50, 50],
    ['prepare', false, false],
    ['prepare', { max: 100 }, { max: 100 }],
    ['pooler', 'session', 'session'],
  ])('takes %s: %p for %p', (name, written, expected) => {
    expect(Reflect.get(resolve({ [name]: written }), name)).toEqual(expected);
  });

  it('makes a factory of each form of balancer', () => {
    expect(resolve({ balancer: 'shuffle' }).balancer).toBe(resolveBalancer('shuffle'));
    expect(resolve({ balancer: factory }).balancer).toBe(factory);
    expect(resolve({ balancer: { name: 'priority', first: 2 } }).balancer).toBeInstanceOf(Function);
  });

  it.each<[string, unknown]>([
    ['target', 'all'],
    ['target', 'Primary'],
    ['target', ['split']],
    ['balancer', 'random'],
    ['balancer', 7],
    ['balancer', {}],
    ['balancer', { name: 'priority' }],
    ['balancer.name', { name: 'shuffle', first: 1 }],
    ['balancer.first', { name: 'priority', first: 0 }],
    ['balancer.first', { name: 'priority', first: '1' }],
    ['balancer.last', { name: 'priority', first: 1, last: 1 }],
    ['primaryReads', -1],
    ['primaryReads', Number.NaN],
    ['primaryReads', 'true'],
    ['fallback', 'replica'],
    ['fallbackShare', 0],
    ['fallbackShare', 1.1],
    ['fallbackShare', '0.5'],
    ['maxLag', true],
    ['maxLag', 1000],
    ['maxLag.millis', { millis: -1 }],
    ['maxLag.bytes', { bytes: Number.NaN }],
    ['maxLag.seconds', { seconds: 1 }],
    ['failover', 10],
    ['failover.waitMillis', { waitMillis: Number.POSITIVE_INFINITY }],
    ['failover.wait', { wait: 1 }],
    ['discovery.intervalMillis', { intervalMillis: 0 }],
    ['discovery.interval', { interval: 1 }],
    ['pools', ''],
    ['pools', {}],
    ['pools', { name: 'shared' }],
    ['maxPerServer', 0],
    ['maxPerServer', 1],
    ['prepare', true],
    ['prepare.max', {}],
    ['prepare.max', { max: 0 }],
    ['prepare.max', { max: 1.5 }],
    ['prepare.max', { max: 10_001 }],
    ['prepare.min', { max: 1, min: 1 }],
    ['pooler', 'transaction'],
    ['pooler', true],
    ['replcas', []],
  ])('refuses a bad %s: %p', (name, value) => {
    const key = name.split('.')[0] ?? '';

    expect(() => resolve({ [key]: value })).toThrow(
      expect.objectContaining({ name: 'ConfigError', path: `rwSplit.${name}` }),
    );
  });
});

describe('checkPriority', () => {
  it.each([[1], [2]])('allows %i of two replicas', (first) => {
    expect(() => checkPriority({ name: 'priority', first }, 2)).not.toThrow();
  });

  it('refuses more than there are', () => {
    expect(() => checkPriority({ name: 'priority', first: 3 }, 2)).toThrow(
      'rwSplit.balancer.first is 3; it must be at most 2, the number of replicas.',
    );
  });

  it.each([['shuffle'], ['priority'], [undefined]])('has nothing to say of %p', (option) => {
    expect(() => checkPriority(option, 0)).not.toThrow();
  });
});

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Balancer } from '../../../lib/balancers/balancer.ts';
import type { BalancerOption } from '../../../lib/balancers/registry.ts';
import { registerBalancer, resolveBalancer } from '../../../lib/balancers/registry.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { hostView, picks } from '../../support/host-view.ts';

const builtIns = [
  'round-robin',
  'shuffle',
  'priority',
  'least-connections',
  'least-latency',
  'in-order',
];
const fixed: Balancer = { pick: (hosts) => hosts[0] };
const makeFixed = (): Balancer => fixed;

function configError(act: () => unknown): ConfigError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('resolveBalancer', () => {
  it.each(builtIns)('knows %s, and makes one for each cluster', (name) => {
    const factory = resolveBalancer(name);

    expect(factory().pick([hostView('a')]).name).toBe('a');
    expect(factory()).not.toBe(factory());
  });

  it('takes "priority" as the first replica alone', () => {
    const hosts = [hostView('a'), hostView('b'), hostView('c')] as const;

    expect(picks(resolveBalancer('priority')(), hosts, 3)).toBe('aaa');
    expect(picks(resolveBalancer({ name: 'priority', first: 2 })(), hosts, 4)).toMatch(
      /^(abab|baba)$/,
    );
  });

  it('takes a factory as it is', () => {
    expect(resolveBalancer(makeFixed)).toBe(makeFixed);
  });

  it('names the registered balancers where the name is unknown', () => {
    const error = configError(() => resolveBalancer('roundrobin'));

    expect(error.path).toBe('rwSplit.balancer');
    expect(error.message).toMatch(
      /^rwSplit\.balancer is "roundrobin"; it must be a registered name: round-robin, shuffle, /,
    );
  });

  it.each([0, -1, 1.5, Number.NaN, '2', undefined])(
    'refuses { name: "priority", first: %p }',
    (first) => {
      // A caller without TypeScript.
      const option = { name: 'priority', first } as unknown as BalancerOption;

      const error = configError(() => resolveBalancer(option));

      expect(error.path).toBe('rwSplit.balancer.first');
      expect(error.message).toContain(`not ${String(first)}`);
    },
  );

  it.each([
    [null, 'not null'],
    [['shuffle'], 'not an array'],
    [{ name: 'shuffle' }, 'not of type object'],
    [true, 'not of type boolean'],
  ])('refuses %j', (option, expected) => {
    // A caller without TypeScript.
    const error = configError(() => resolveBalancer(option as unknown as BalancerOption));

    expect(error.path).toBe('rwSplit.balancer');
    expect(error.message).toContain(expected);
  });
});

describe('registerBalancer', () => {
  it('makes a balancer known by its name', () => {
    registerBalancer('always-first', makeFixed);

    expect(resolveBalancer('always-first')()).toBe(fixed);
  });

  it.each(['shuffle', ''])('refuses the name %j', (name) => {
    expect(configError(() => registerBalancer(name, makeFixed)).path).toBe('rwSplit.balancer');
  });

  it('refuses what is not a function', () => {
    // A caller without TypeScript.
    const balancer = fixed as unknown as () => Balancer;

    expect(configError(() => registerBalancer('object', balancer)).message).toContain('function');
  });
});

const host = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  weight: fc.oneof(fc.constant(0), fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true })),
  order: fc.nat(8),
  inFlight: fc.nat(1000),
  latencyMillis: fc.double({ min: 0, max: 1e9, noNaN: true }),
});
const offers = fc.array(
  fc.uniqueArray(host, { minLength: 1, maxLength: 6, selector: ({ name }) => name }),
  { minLength: 1, maxLength: 40 },
);

describe.each([...builtIns])('%s, whatever it is offered', (name) => {
  it('picks one of the offered hosts, and no weight of 0 before a positive one', () => {
    fc.assert(
      fc.property(offers, (sequence) => {
        const balancer = resolveBalancer(name)();

        for (const [first, ...rest] of sequence) {
          if (first === undefined) continue;
          const hosts = [first, ...rest] as const;
          const picked = balancer.pick(hosts);

          expect(hosts).toContain(picked);
          expect(picked.weight > 0 || hosts.every(({ weight }) => weight === 0)).toBe(true);
        }
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Target } from '../../../lib/config/options.ts';
import { ConfigError, ReadOnlyHostError } from '../../../lib/errors.ts';
import type { Exclusion } from '../../../lib/hosts/election.ts';
import type { RouteRequest } from '../../../lib/routing/route.ts';
import { route } from '../../../lib/routing/router.ts';
import type { RoutingPolicy } from '../../../lib/routing/router.ts';
import { hostOf, makeCluster, names } from '../../support/hosts.ts';

const read: RouteRequest = { intent: 'read', proved: true, reason: 'only reads' };
const write: RouteRequest = { intent: 'write', proved: true, reason: 'is an insert' };
const unproved: RouteRequest = { intent: 'write', proved: false, reason: 'unknown function f' };

const cluster = makeCluster({ primary: {}, near: { tags: ['near'] }, far: {} });

function decide(
  request: RouteRequest,
  { target = 'split', fallback = 'primary' }: Partial<RoutingPolicy> = {},
  hosts = cluster.routable,
): { hosts: readonly string[]; fallback: readonly string[]; reason: string; mayRerun: boolean } {
  const decided = route(request, hosts, { target, fallback });
  return { ...decided, hosts: names(decided.hosts), fallback: names(decided.fallback) };
}

describe('route', () => {
  const replicas = ['near', 'far'];
  const all = ['primary', ...replicas];

  it.each<[Target, RouteRequest, readonly string[], readonly string[]]>([
    ['split', read, replicas, ['primary']],
    ['split', write, ['primary'], []],
    ['split', unproved, ['primary'], []],
    ['primary', read, ['primary'], []],
    ['primary', write, ['primary'], []],
    ['primary', unproved, ['primary'], []],
    ['replica', read, replicas, []],
    ['replica', write, replicas, []],
    ['replica', unproved, replicas, []],
    ['prefer-replica', read, replicas, ['primary']],
    ['prefer-replica', write, ['primary'], []],
    ['prefer-replica', unproved, ['primary'], []],
    ['any', read, all, []],
    ['any', write, all, []],
    ['any', unproved, all, []],
  ])('under target %s sends %o to %o, then %o', (target, request, hosts, fallback) => {
    expect(decide(request, { target })).toMatchObject({ hosts, fallback });
  });

  it('leaves the primary out of reads when there is no fallback', () => {
    expect(decide(read, { fallback: 'error' }).fallback).toEqual([]);
  });

  it('falls back to the primary under prefer-replica, whatever the fallback option says', () => {
    const policy = { target: 'prefer-replica', fallback: 'error' } as const;

    expect(decide(read, policy).fallback).toEqual(['primary']);
  });

  it('counts the primary among the readers where it serves reads', () => {
    const { routable } = makeCluster({ primary: {}, near: {} }, { primaryReads: true });

    expect(decide(read, {}, routable)).toMatchObject({ hosts: ['near', 'primary'], fallback: [] });
  });

  it('lets the primary run what a replica refused, but for strict targets', () => {
    const targets = ['split', 'prefer-replica', 'replica', 'any'] as const;

    expect(targets.map((target) => decide(read, { target }).mayRerun)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each<[RouteRequest, readonly string[], readonly string[]]>([
    [{ ...read, hint: { target: 'primary' } }, ['primary'], []],
    [{ ...read, hint: { target: 'replica' } }, replicas, []],
    [{ ...unproved, hint: { target: 'replica' } }, replicas, []],
    [{ ...read, hint: { tag: 'near' } }, ['near'], ['primary']],
    [{ ...read, hint: { tag: 'nowhere' } }, [], ['primary']],
    [{ ...write, hint: { tag: 'near' } }, ['primary'], []],
    [{ ...read, hint: { host: 'far' } }, ['far'], []],
    [{ ...write, hint: { host: 'primary' } }, ['primary'], []],
    [{ ...read, hint: { host: 'primary', target: 'replica' } }, ['primary'], []],
  ])('honours the hint of %o: %o, then %o', (request, hosts, fallback) => {
    expect(decide(request)).toMatchObject({ hosts, fallback });
  });

  it('keeps a tagged read off the primary when there is no fallback', () => {
    const request = { ...read, hint: { tag: 'nowhere' } };

    expect(decide(request, { fallback: 'error' })).toMatchObject({ hosts: [], fallback: [] });
  });

  it('keeps a tagged read in a scope of replicas off the primary', () => {
    const request = { ...read, scope: 'replica', hint: { tag: 'nowhere' } } as const;

    expect(decide(request)).toMatchObject({ hosts: [], fallback: [] });
  });

  it.each<RouteRequest>([
    { ...write, hint: { target: 'replica' } },
    { ...write, hint: { host: 'near' } },
  ])('refuses to send a proved write to a replica: %o', (request) => {
    expect(() => decide(request)).toThrow(ReadOnlyHostError);
    expect(() => decide(request)).toThrow(/is an insert/);
  });

  it('says which hosts there are when a hint names none of them', () => {
    expect(() => decide({ ...read, hint: { host: 'moon' } })).toThrow(
      new ConfigError('', 'No host is named "moon"; there are primary, near, far.'),
    );
  });

  it.each<[RouteRequest, readonly string[], readonly string[]]>([
    [{ ...read, scope: 'primary' }, ['primary'], []],
    [{ ...read, scope: 'replica' }, replicas, []],
    [{ ...write, scope: 'replica' }, ['primary'], []],
    [{ ...unproved, scope: 'replica' }, ['primary'], []],
    [{ ...read, scope: 'primary', hint: { target: 'replica' } }, replicas, []],
  ])('honours the scope of %o: %o, then %o', (request, hosts, fallback) => {
    expect(decide(request)).toMatchObject({ hosts, fallback });
  });

  it.each<[Exclusion, readonly string[]]>([
    ['fenced', []],
    ['foreign', []],
    ['another primary', ['far']],
    ['old timeline', ['far']],
    ['same server', ['far']],
  ])('sends nothing by a hint to a host that must not serve: %s', (exclusion, hosts) => {
    const own = makeCluster({ primary: {}, near: {}, far: {} });
    Object.assign(hostOf(own, 'far'), { exclusion });

    const decided = decide({ ...read, hint: { host: 'far' } }, {}, own.routable);

    expect(decided).toMatchObject({ hosts, fallback: [], reason: 'hint: host far' });
  });

  it('says why in words that name the hint, the scope or the target', () => {
    expect(decide(read).reason).toBe('only reads');
    expect(decide({ ...read, hint: { target: 'primary' } }).reason).toBe(
      'hint: primary; only reads',
    );
    expect(decide({ ...read, scope: 'primary' }).reason).toBe('scope: primary; only reads');
    expect(decide(read, { target: 'primary' }).reason).toBe('target: primary; only reads');
  });
});

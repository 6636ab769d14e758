import { describe, expect, it } from '@jest/globals';
import type { Target } from '../../../lib/config/options.ts';
import { ConfigError, ReadOnlyHostError } from '../../../lib/errors.ts';
import type { Exclusion } from '../../../lib/hosts/election.ts';
import type { RouteRequest } from '../../../lib/routing/route.ts';
import { route } from '../../../lib/routing/router.ts';
import type { RoutingPolicy } from '../../../lib/routing/router.ts';
import { Positions } from '../../../lib/consistency/positions.ts';
import type { Need } from '../../../lib/routing/need.ts';
import { hostOf, makeCluster, names, tellRoles } from '../../support/hosts.ts';
import { makeNeed } from '../../support/need.ts';

const read: RouteRequest = { intent: 'read', proved: true, reason: 'only reads' };
const write: RouteRequest = { intent: 'write', proved: true, reason: 'is an insert' };
const unproved: RouteRequest = { intent: 'write', proved: false, reason: 'unknown function f' };

const cluster = makeCluster({ primary: {}, near: { tags: ['near'] }, far: {} });

function decide(
  request: RouteRequest,
  { target = 'split', fallback = 'primary' }: Partial<RoutingPolicy> = {},
  hosts = cluster.routable,
): {
  hosts: readonly string[];
  fallback: readonly string[];
  reason: string;
  mayRerun: boolean;
  isPastReplicas?: boolean | undefined;
} {
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

describe('route, of a read that has to see what its session wrote', () => {
  // The servers behind the names are told apart by what has been heard of their replay.
  const session = makeCluster({ primary: {}, near: { tags: ['near'] }, far: {} });
  for (const host of session.hosts) {
    Object.assign(host, { report: { ...host.report, server: host.name } });
  }
  const { routable } = session;

  /** Of which the named replicas are known to follow another timeline, and so to lack it. */
  function needWithout(...behind: readonly string[]): Need {
    const positions = new Positions();
    for (const name of behind) positions.note(name, 2, 1n);
    return makeNeed({ positions });
  }

  it.each<[string, readonly string[], RouteRequest['hint'], readonly string[]]>([
    ['all replicas that may have it', [], undefined, ['near', 'far']],
    ['no replica that lacks it', ['near'], undefined, ['far']],
    ['no replica where all lack it', ['near', 'far'], undefined, []],
    ['no other replica than the hint says', ['near'], { tag: 'near' }, []],
  ])('names %s, and then the primary', (_, behind, hint, hosts) => {
    const request = { ...read, hint, need: needWithout(...behind) };

    expect(decide(request, {}, routable)).toMatchObject({ hosts, fallback: ['primary'] });
  });

  it.each([
    ['near', []],
    ['primary', ['primary']],
  ])('has nobody in place of %s, where that is named', (name, hosts) => {
    const request = { ...read, hint: { host: name }, need: needWithout('near') };

    expect(decide(request, {}, routable)).toMatchObject({ hosts, fallback: [] });
  });

  it('says why where it goes past replicas, and there alone', () => {
    const [some, all] = [needWithout('near'), needWithout('near', 'far')].map((need) =>
      route({ ...read, need }, routable, { target: 'split', fallback: 'primary' }),
    );

    expect(some).toMatchObject({ reason: 'only reads', isPastReplicas: false });
    expect(all).toMatchObject({
      reason: 'only reads; no replica is known to have what its session wrote or saw',
      isPastReplicas: true,
    });
  });

  it('is past no replicas where there are none', () => {
    const { routable: alone } = makeCluster({ primary: {} });
    const request = { ...read, need: needWithout() };

    expect(route(request, alone, { target: 'split', fallback: 'primary' })).toMatchObject({
      reason: 'only reads',
      isPastReplicas: false,
    });
  });

  it('has the primary among the readers serve it, whatever is known of replicas', () => {
    const readers = makeCluster({ primary: {}, near: {} }, { primaryReads: true });
    const request = { ...read, need: makeNeed({ mark: undefined }) };

    expect(decide(request, {}, readers.routable).hosts).toEqual(['primary']);
  });

  it.each<[string, RouteRequest, Partial<RoutingPolicy>]>([
    ['the target', read, { target: 'replica' }],
    ['the hint', { ...read, hint: { target: 'replica' } }, {}],
    ['the scope', { ...read, scope: 'replica' }, {}],
    ['the fallback', read, { fallback: 'error' }],
  ])('stays off the primary where %s says so', (_, request, policy) => {
    const need = needWithout('near', 'far');

    expect(decide({ ...request, need }, policy, routable)).toMatchObject({
      hosts: [],
      fallback: [],
    });
  });

  it('leaves out replicas of the last resort that lack it', () => {
    const silent = makeCluster({ primary: {}, near: {}, far: {} });
    tellRoles(silent, 'primary');
    for (const name of ['near', 'far']) {
      const host = hostOf(silent, name);
      Object.assign(host, { report: { ...host.report, server: name } });
      silent.noteFailedProbe(host, { trouble: 'silent', reason: 'no answer' }, new Error('late'));
    }
    const request = { ...read, need: needWithout('near') };

    const decided = route(request, silent.routable, { target: 'split', fallback: 'primary' });

    expect(names(silent.routable.lastReplicas)).toEqual(['near', 'far']);
    expect(names(decided.lastResort)).toEqual(['far']);
  });

  it.each<[string, RouteRequest, Target]>([
    ['a write', write, 'split'],
    ['the primary', read, 'primary'],
  ])('changes nothing for %s', (_, request, target) => {
    const need = needWithout('near', 'far');

    expect(decide({ ...request, need }, { target }, routable)).toEqual(
      decide(request, { target }, routable),
    );
  });
});

describe('route, of a strong read', () => {
  const strong: RouteRequest = { ...read, isStrong: true };

  it.each<[string, RouteRequest, readonly string[], readonly string[], string]>([
    ['the primary', strong, ['primary'], [], 'consistency: strong; only reads'],
    [
      'where a hint says',
      { ...strong, hint: { target: 'prefer-replica' } },
      ['near', 'far'],
      ['primary'],
      'hint: prefer-replica; only reads',
    ],
    [
      'the primary in a scope of replicas',
      { ...strong, scope: 'replica' },
      ['primary'],
      [],
      'consistency: strong; only reads',
    ],
    [
      'where writes go, if it is none',
      { ...write, isStrong: true },
      ['primary'],
      [],
      'is an insert',
    ],
  ])('goes to %s', (_, request, hosts, fallback, reason) => {
    expect(decide(request)).toMatchObject({ hosts, fallback, reason });
  });
});

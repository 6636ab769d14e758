import { describe, expect, it } from '@jest/globals';
import { NoHostAvailableError } from '../../../lib/errors.ts';
import { SilentHostError } from '../../../lib/monitor/hang-watch.ts';
import { noHost, surface } from '../../../lib/routing/no-host.ts';
import { hostOf, makeCluster, makeUnseenCluster, takeDown } from '../../support/hosts.ts';
import { makeRoute } from '../../support/route.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
const password = Object.assign(new Error('password authentication failed'), { severity: 'FATAL' });
const failed = (name: string, lastError?: Error) => ({ name, state: 'unreachable', lastError });

describe('noHost', () => {
  it('says what is known of each host', () => {
    const cluster = makeCluster({ a: {}, b: {}, c: {}, d: {} });
    takeDown(cluster, 'b', refused);
    cluster.setDraining(hostOf(cluster, 'c'), true);
    hostOf(cluster, 'd').lagProblem = 'lags 9 ms';

    const error = noHost('read', cluster, [failed('a', password)]);

    expect(error.hosts).toEqual([
      failed('a', password),
      { name: 'b', state: expect.any(String), lastError: refused },
      { name: 'c', state: 'is draining' },
      { name: 'd', state: 'lags 9 ms' },
    ]);
    expect(error.message).toMatch(/^No host can serve this read: a .*password.*b .*ECONNREFUSED/);
    expect(error.message).toMatch(/Check that the servers run/);
  });

  it('points to the handle where no error tells', () => {
    const error = noHost('write', makeUnseenCluster({ a: {}, b: {} }), []);

    expect(error.message).toMatch(/a was not probed yet, b was not probed yet.*rwSplit\(db\)/);
  });
});

describe('noHost of a route', () => {
  const cluster = makeCluster({ a: {}, b: {}, c: {} });
  const route = makeRoute({ hosts: [hostOf(cluster, 'b')], fallback: [hostOf(cluster, 'a')] });

  it('says of a host that would have done that there was no time for it', () => {
    const { hosts } = noHost('read', cluster, [], route);

    expect(hosts).toEqual([
      { name: 'a', state: 'was not tried in time' },
      { name: 'b', state: 'was not tried in time' },
      { name: 'c', state: 'is a replica' },
    ]);
  });

  it('says what is wrong with a host rather than that it was not tried', () => {
    const lagging = makeCluster({ a: {}, b: {} });
    hostOf(lagging, 'b').lagProblem = 'lags 9 ms';
    const fit = makeRoute({ hosts: [hostOf(lagging, 'b')] });

    expect(noHost('read', lagging, [], fit).hosts[1]).toEqual({ name: 'b', state: 'lags 9 ms' });
  });

  it('tells of what a server is up to in one word', () => {
    const ill = makeCluster({ a: {}, b: {}, c: {} });
    const note = (name: string, trouble: 'starting' | 'misconfigured' | 'silent'): void =>
      ill.noteFailedProbe(hostOf(ill, name), { trouble, reason: trouble }, password);
    note('a', 'starting');
    note('b', 'misconfigured');
    note('c', 'silent');

    const { hosts } = noHost('write', ill, [], makeRoute({ hosts: ill.hosts }));

    expect(hosts.map(({ state }) => state)).toEqual(['starting', 'misconfigured', 'unreachable']);
  });
});

describe('surface', () => {
  const cluster = makeCluster({ a: {}, b: {} });

  it.each([
    ['what a server answers where it was asked last', [failed('a', password)], password],
    [
      'the last of several answers',
      [failed('b', new Error('vault')), failed('a', password)],
      password,
    ],
  ])('lets through %s', (_, failures, expected) => {
    expect(surface(makeRoute(), cluster, failures)).toBe(expected);
  });

  it.each([
    ['a host cannot be reached', [failed('a', refused)]],
    ['one of them cannot be reached', [failed('b', refused), failed('a', password)]],
    ['none of its addresses can be', [failed('a', new AggregateError([refused]))]],
    ['pg says so in words', [failed('a', new Error('timeout expired'))]],
    ['a host was given up', [failed('a', new SilentHostError('a', 600))]],
    ['a probe was not answered', [failed('a', new Error('The probe had no answer within 5 ms.'))]],
    ['a connection did not open', [failed('a', new Error('no connection within 5 ms'))]],
    ['a pool was full, which is no error of a host', [failed('a')]],
    ['no host was asked', []],
  ])('tells of all hosts where %s', (_, failures) => {
    expect(surface(makeRoute(), cluster, failures)).toBeInstanceOf(NoHostAvailableError);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Host } from '../../../lib/hosts/host.ts';
import { Survey } from '../../../lib/hosts/survey.ts';
import { hostOf, makeCluster, names, reportOf } from '../../support/hosts.ts';

interface Bench {
  readonly b: Host;
  /** Looks again; whether anything has changed. */
  readonly take: (isSettled?: boolean) => boolean;
  readonly survey: Survey;
}

/** A survey of a primary `a` and a replica `b` that was taken once. */
function bench(): Bench {
  const cluster = makeCluster({ a: {}, b: {} });
  const survey = new Survey(cluster.hosts, false);
  const take = (isSettled = true): boolean =>
    survey.take(cluster.hosts, cluster.elected, isSettled);
  take();
  return { b: hostOf(cluster, 'b'), take, survey };
}

const ill = { since: 0, setbacks: 1, readmittedAt: undefined, reason: 'so it was seen' };

describe('Survey', () => {
  it('knows of nobody elected before the first look', () => {
    const { hosts, elected } = makeCluster({ a: {}, b: {} });
    const survey = new Survey(hosts, true);
    expect(names(survey.routable.primary)).toEqual([]);

    expect(survey.take(hosts, elected, true)).toBe(true);

    expect(names(survey.routable.primary)).toEqual(['a']);
    expect(names(survey.routable.readers)).toEqual(['b', 'a']);
  });

  it('keeps its lists where all is as before', () => {
    const { survey, take } = bench();
    const before = survey.routable;

    expect(take()).toBe(false);

    expect(survey.routable).toBe(before);
  });

  it.each<[string, Partial<Host>, readonly string[]]>([
    ['a state of health', { health: { state: 'down', trouble: 'silent', ...ill } }, []],
    ['a role', { role: 'primary' }, []],
    ['an exclusion', { exclusion: 'old timeline' }, []],
    ['a lag', { lagProblem: 'lags 9 ms' }, []],
    ['a drain', { isDraining: true }, []],
    ['a server behind its name', { report: reportOf('replica', { server: 'two' }) }, ['b']],
  ])('takes %s for a change, once', (_, change, replicas) => {
    const { b, survey, take } = bench();

    Object.assign(b, change);

    expect([take(), take()]).toEqual([true, false]);
    expect(names(survey.routable.replicas)).toEqual(replicas);
  });

  it('takes another trouble in the same state for a change', () => {
    const { b, survey, take } = bench();
    b.health = { state: 'down', trouble: 'silent', ...ill };
    take();

    b.health = { state: 'down', trouble: 'misconfigured', ...ill };

    expect(take()).toBe(true);
    expect(names(survey.routable.lastReplicas)).toEqual(['b']);
  });

  it.each<[string, Partial<Host>]>([
    ['how far a replica is behind, within what it may', { lag: { bytes: 9, millis: 9 } }],
    ['the position that a server tells', { report: reportOf('replica', { position: 2000n }) }],
    ['an error of the past', { lastError: new Error('gone') }],
  ])('takes %s for none', (_, change) => {
    const { b, take } = bench();

    Object.assign(b, change);

    expect(take()).toBe(false);
  });

  it('takes a lag for a change, and its growth for none', () => {
    const { b, take } = bench();

    b.lagProblem = 'lags 9 ms';
    const first = take();
    b.lagProblem = 'lags 10 ms';

    expect([first, take()]).toEqual([true, false]);
  });

  it('takes another host for a change, even under the same name', () => {
    const survey = new Survey([], false);
    survey.take(makeCluster({ a: {}, b: {} }).hosts, undefined, true);
    const { hosts } = makeCluster({ a: {}, b: {} });

    const looks = [1, 2].map(() => survey.take(hosts, undefined, true));

    expect(looks).toEqual([true, false]);
    expect(survey.routable.all).toBe(hosts);
  });

  it('takes an election for a change', () => {
    const { hosts, elected } = makeCluster({ a: {}, b: {} });
    const survey = new Survey(hosts, false);
    survey.take(hosts, undefined, true);

    expect(survey.take(hosts, elected, true)).toBe(true);
  });

  it('takes it for a change that every host was looked at', () => {
    const { take } = bench();

    expect([take(false), take(true)]).toEqual([true, true]);
  });

  it('takes the next look for a change where it was told to forget the last', () => {
    const { survey, take } = bench();

    survey.forget();

    expect([take(), take()]).toEqual([true, false]);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Exclusion } from '../../../lib/hosts/election.ts';
import type { Health, Trouble } from '../../../lib/hosts/health.ts';
import { unknownHealth } from '../../../lib/hosts/health.ts';
import type { Host } from '../../../lib/hosts/host.ts';
import { surveyHosts, unfitness } from '../../../lib/hosts/routable-hosts.ts';
import { hostSettings, makeHost, names, reportOf } from '../../support/hosts.ts';

const course = { since: 0, setbacks: 1, readmittedAt: undefined };
const up: Health = { state: 'up', ...course };
const ill = (trouble: Trouble) => ({ ...course, trouble, reason: 'so it was seen' });
const suspect = (trouble: Trouble): Health => ({ state: 'suspect', failures: 1, ...ill(trouble) });
const down = (trouble: Trouble): Health => ({ state: 'down', ...ill(trouble) });
const halfOpen: Health = { state: 'half-open', successes: 1, ...ill('silent') };

/** A primary that is up, and hosts with a state of their own. */
function hostsOf(...states: readonly Partial<Host>[]): readonly [Host, ...Host[]] {
  const make = (name: string, role: 'primary' | 'replica', state: Partial<Host>): Host =>
    Object.assign(makeHost(hostSettings(name), role), { health: up }, state);
  const [first = {}, ...others] = states;
  return [
    make('primary', 'primary', first),
    ...others.map((state, index) => make(`r${index + 1}`, 'replica', state)),
  ];
}

describe('surveyHosts', () => {
  it.each<[string, Partial<Host>, readonly string[], readonly string[], readonly string[]]>([
    ['unknown', { health: unknownHealth }, [], [], []],
    ['up', { health: up }, ['r1'], [], ['r1']],
    ['silent for a moment', { health: suspect('silent') }, [], ['r1'], []],
    ['refusing for a moment', { health: suspect('refused') }, [], [], []],
    ['starting', { health: suspect('starting') }, [], [], []],
    ['down', { health: down('silent') }, [], [], []],
    ['misconfigured', { health: down('misconfigured') }, [], ['r1'], []],
    ['half-open', { health: halfOpen }, [], [], []],
    ['lagging', { lagProblem: 'lags' }, [], [], ['r1']],
    ['lagging and silent', { health: suspect('silent'), lagProblem: 'lags' }, [], [], []],
    ['draining', { isDraining: true }, [], [], []],
    ['excluded', { exclusion: 'old timeline' }, [], [], ['r1']],
    ['a second primary', { role: 'primary', exclusion: 'another primary' }, [], [], ['r1']],
  ])('with a replica that is %s', (_, state, replicas, lastReplicas, usable) => {
    const all = hostsOf({}, state);

    const survey = surveyHosts(all, all[0], false);

    expect(names(survey.primary)).toEqual(['primary']);
    expect(names(survey.replicas)).toEqual(replicas);
    expect(survey.readers).toBe(survey.replicas);
    expect(names(survey.lastReplicas)).toEqual(lastReplicas);
    expect(names(survey.usable)).toEqual(['primary', ...usable]);
  });

  it.each<[string, Partial<Host>, readonly string[]]>([
    ['up', { health: up }, ['primary']],
    ['silent for a moment', { health: suspect('silent') }, ['primary']],
    ['refusing for a moment', { health: suspect('refused') }, []],
    ['down', { health: down('silent') }, []],
    ['misconfigured', { health: down('misconfigured') }, ['primary']],
    ['draining', { isDraining: true }, []],
  ])('with an elected primary that is %s', (_, state, expected) => {
    const all = hostsOf(state, {});

    expect(names(surveyHosts(all, all[0], false).primary)).toEqual(expected);
  });

  it.each<[string, Partial<Host>, readonly string[]]>([
    ['unknown', { health: unknownHealth }, []],
    ['up', { health: up }, []],
    ['down', { health: down('silent') }, []],
    // Its refusal has the words that the user has to read.
    ['misconfigured', { health: down('misconfigured') }, ['primary']],
  ])('with nobody elected, and a presumed primary that is %s', (_, state, expected) => {
    expect(names(surveyHosts(hostsOf(state, {}), undefined, false).primary)).toEqual(expected);
  });

  it.each<[string, Partial<Host>, readonly string[]]>([
    ['unknown', { health: unknownHealth }, ['primary']],
    ['up, and has told nothing', { health: up }, ['primary']],
    ['up, and no primary', { health: up, report: reportOf('replica') }, []],
    ['down', { health: down('silent') }, []],
    ['misconfigured', { health: down('misconfigured') }, ['primary']],
  ])('with nobody elected, and a single host that is %s', (_, state, expected) => {
    expect(names(surveyHosts(hostsOf(state), undefined, false).primary)).toEqual(expected);
  });

  it('counts the primary among the readers where it serves reads, while it is well', () => {
    const all = hostsOf({}, {});
    const [primary] = all;
    expect(names(surveyHosts(all, primary, true).readers)).toEqual(['r1', 'primary']);

    primary.health = suspect('silent');

    expect(names(surveyHosts(all, primary, true).readers)).toEqual(['r1']);
  });

  it('gives the replicas their places, and the primary the last', () => {
    const all = hostsOf({}, {}, {});

    surveyHosts(all, all[1], false);

    expect(all.map(({ order }) => order)).toEqual([0, Number.MAX_SAFE_INTEGER, 1]);
  });
});

describe('unfitness', () => {
  it.each<[string, Partial<Host>, RegExp]>([
    ['draining', { isDraining: true }, /^is draining$/],
    ['unknown', { health: unknownHealth }, /^was not probed yet$/],
    ['suspect', { health: suspect('silent') }, /^is suspect: so it was seen$/],
    ['down', { health: down('refused') }, /^is down: so it was seen$/],
    ['lagging', { lagProblem: 'lags 9 ms' }, /^lags 9 ms$/],
    ['a primary that has not said so', { role: 'primary' }, /^has not told its role yet/],
    ...(
      [
        ['foreign', /another cluster/],
        ['fenced', /old primary/],
        ['unproved', /name it in connection/],
        ['another primary', /another host is the elected one/],
        ['same server', /under another name/],
        ['old timeline', /follows an old primary/],
      ] as const
    ).map(([exclusion, words]): [string, { exclusion: Exclusion }, RegExp] => [
      exclusion,
      { exclusion },
      words,
    ]),
  ])('of a host that is %s', (_, state, words) => {
    const [primary, host] = hostsOf({}, state);

    expect(host && unfitness(host, primary)).toMatch(words);
  });

  it('is none of hosts that are in use', () => {
    const [primary, replica] = hostsOf({}, {});

    expect(unfitness(primary, primary)).toBeUndefined();
    expect(replica && unfitness(replica, primary)).toBeUndefined();
  });
});

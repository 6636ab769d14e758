import { describe, expect, it } from '@jest/globals';
import type { Candidate, ClusterMemory, Election } from '../../../lib/hosts/election.ts';
import { elect, noMemory } from '../../../lib/hosts/election.ts';
import type { ServerReport } from '../../../lib/hosts/server-report.ts';
import { reportOf } from '../../support/hosts.ts';
import { seededRandom } from '../../support/seeded-random.ts';

type Told = Partial<ServerReport>;

interface Named extends Candidate {
  readonly name: string;
}

/** `presumed` is the configured primary, any other name a configured replica. */
function candidate(name: string, report: ServerReport | undefined, wasInRecovery = false): Named {
  const isReplica = report?.isInRecovery === true;
  return {
    name,
    report,
    isPresumed: name === 'presumed',
    wasInRecovery: wasInRecovery || isReplica,
  };
}

const primary = (name: string, told: Told = {}, wasInRecovery = false): Named =>
  candidate(name, reportOf('primary', told), wasInRecovery);
const replica = (name: string, told: Told = {}): Named =>
  candidate(name, reportOf('replica', told));
const away = (name: string): Named => candidate(name, undefined);
const promoted = (name: string, told: Told = {}): Named =>
  primary(name, { timeline: 2, ...told }, true);

/** Elects again and again, and shows the last outcome. */
function outcome(...rounds: readonly (readonly Named[])[]): {
  readonly primary: string | undefined;
  readonly excluded: Readonly<Record<string, string>>;
  readonly memory: ClusterMemory;
} {
  let memory = noMemory;
  let last: Election<Named> | undefined;
  let elected: string | undefined;
  for (const round of rounds) {
    last = elect(
      round,
      memory,
      round.find(({ name }) => name === elected),
    );
    ({ memory } = last);
    elected = last.primary?.name;
  }
  const excluded = [...(last?.excluded ?? [])].map(([{ name }, why]) => [name, why]);
  return { primary: elected, excluded: Object.fromEntries(excluded), memory };
}

const nobody = undefined;
const unreadable = { systemId: undefined };
const untold = { systemId: undefined, timeline: undefined };

describe('elect', () => {
  it.each<[string, readonly (readonly Named[])[], string | undefined, Record<string, string>]>([
    ['nobody before anything is known', [[away('presumed'), away('b')]], nobody, {}],
    ['the one that is not in recovery', [[primary('presumed'), replica('b')]], 'presumed', {}],
    ['a replica that was promoted', [[replica('presumed'), promoted('b')]], 'b', {}],
    ['nobody among replicas', [[replica('presumed'), replica('b')]], nobody, {}],
    [
      'the one that is read-only by default as well',
      [[primary('presumed', { isReadOnlyByDefault: true }), replica('b')]],
      'presumed',
      {},
    ],
    [
      'the higher timeline of two primaries at the start',
      [[primary('presumed'), promoted('b')]],
      'b',
      { presumed: 'fenced' },
    ],
    [
      'the higher timeline of two primaries later on',
      [
        [primary('presumed'), replica('b')],
        [primary('presumed'), promoted('b')],
      ],
      'b',
      { presumed: 'fenced' },
    ],
    [
      'the promoted one still, when the old primary is back',
      [
        [primary('presumed'), replica('b')],
        [away('presumed'), promoted('b')],
        [primary('presumed'), promoted('b')],
      ],
      'b',
      { presumed: 'fenced' },
    ],
    [
      'nobody, when only the old primary can be reached after a promotion',
      [
        [primary('presumed'), replica('b')],
        [away('presumed'), promoted('b')],
        [primary('presumed'), away('b')],
      ],
      nobody,
      { presumed: 'fenced' },
    ],
    [
      'nobody, when a replica proves a promotion that nobody else saw',
      [[primary('presumed'), away('b'), replica('c', { timeline: 2 })]],
      nobody,
      { presumed: 'fenced' },
    ],
    [
      'nobody, when a replica had proved it once',
      [
        [away('presumed'), replica('c', { timeline: 2 })],
        [primary('presumed'), away('c')],
      ],
      nobody,
      { presumed: 'fenced' },
    ],
    [
      'the old primary again, once it was promoted itself',
      [
        [away('presumed'), promoted('b')],
        [primary('presumed', { timeline: 3 }), away('b')],
      ],
      'presumed',
      {},
    ],
    [
      'the first of two equals',
      [[primary('presumed'), primary('b')]],
      'presumed',
      { b: 'another primary' },
    ],
    [
      'of two equals the one that was elected before',
      [
        [away('presumed'), primary('b', {}, true)],
        [primary('presumed'), primary('b', {}, true)],
      ],
      'b',
      { presumed: 'another primary' },
    ],
  ])('elects %s', (_, rounds, expected, excluded) => {
    expect(outcome(...rounds)).toMatchObject({ primary: expected, excluded });
  });

  it.each<[string, readonly (readonly Named[])[], string | undefined, Record<string, string>]>([
    [
      'a primary of another cluster',
      [[primary('presumed'), primary('b', { systemId: '9', timeline: 8 })]],
      'presumed',
      { b: 'foreign' },
    ],
    [
      'a replica of another cluster, and its timeline',
      [[primary('presumed'), replica('b', { systemId: '9', timeline: 8 })]],
      'presumed',
      { b: 'foreign' },
    ],
    [
      'a replica of another cluster that was heard before the primary',
      [
        [away('presumed'), replica('b', { systemId: '9', timeline: 8 })],
        [primary('presumed'), replica('b', { systemId: '9', timeline: 8 })],
      ],
      'presumed',
      { b: 'foreign' },
    ],
    [
      'one that came to stand behind a known name',
      [
        [primary('presumed'), replica('b')],
        [away('presumed'), primary('b', { systemId: '9', timeline: 8 }, true)],
      ],
      nobody,
      { b: 'foreign' },
    ],
    [
      'one behind the name of the primary itself',
      [
        [primary('presumed'), replica('b')],
        [primary('presumed', { systemId: '9', timeline: 8 }), replica('b')],
      ],
      nobody,
      { presumed: 'foreign' },
    ],
    [
      'the foreign one, by the word of a replica, while the presumed primary is away',
      [[away('presumed'), replica('b'), promoted('c', { systemId: '9' })]],
      nobody,
      { c: 'foreign' },
    ],
    [
      'a configured replica that is a primary and was never anything else',
      [[away('presumed'), primary('b')]],
      nobody,
      { b: 'unproved' },
    ],
    [
      'as before, where no identifier can be read',
      [[primary('presumed', unreadable), primary('b', { ...unreadable, timeline: 8 })]],
      'presumed',
      { b: 'unproved' },
    ],
    [
      'a replica that follows an old primary',
      [[away('presumed'), promoted('b'), replica('c')]],
      'b',
      { c: 'old timeline' },
    ],
  ])('excludes %s', (_, rounds, expected, excluded) => {
    expect(outcome(...rounds)).toMatchObject({ primary: expected, excluded });
  });

  it('takes a promoted replica whose identifier cannot be read, as it was seen in recovery', () => {
    const rounds = [
      [primary('presumed', unreadable), replica('b', unreadable)],
      [away('presumed'), promoted('b', unreadable)],
    ];

    expect(outcome(...rounds)).toMatchObject({ primary: 'b', excluded: {} });
  });

  it.each<[string, readonly Named[], string | undefined, Record<string, string>]>([
    [
      'is the primary under another name',
      [primary('presumed', { server: 's' }), primary('b', { server: 's' })],
      'presumed',
      { b: 'same server' },
    ],
    [
      'was a second one on its timeline, with nobody else left',
      [away('presumed'), { ...primary('b'), rivalTimeline: 1 }],
      nobody,
      { b: 'another primary' },
    ],
    [
      'was a second one on a timeline before',
      [away('presumed'), { ...promoted('b'), rivalTimeline: 1 }],
      'b',
      {},
    ],
    [
      'was a second one, and is on an older timeline than a replica proves',
      [away('presumed'), { ...primary('b'), rivalTimeline: 1 }, replica('c', { timeline: 2 })],
      nobody,
      { b: 'fenced' },
    ],
  ])('of one that %s', (_, round, expected, excluded) => {
    const before = [primary('presumed'), replica('b'), replica('c')];

    expect(outcome(before, round)).toMatchObject({ primary: expected, excluded });
  });

  it('keeps a replica whose timeline may be stale', () => {
    const stale = replica('c', { isTimelineCurrent: false });

    expect(outcome([away('presumed'), promoted('b'), stale]).excluded).toEqual({});
  });

  it('lets an identifier that a replica told fall once the primary tells another', () => {
    const rounds = [[away('presumed'), replica('b', { systemId: '9' })], [primary('presumed')]];

    expect(outcome(...rounds).memory).toMatchObject({ systemId: '7', timeline: 1 });
  });

  it('takes the word of one replica, and not of each in turn', () => {
    const rounds = [
      [away('presumed'), replica('b', { timeline: 2 }), away('c')],
      [away('presumed'), away('b'), replica('c', { systemId: '9', timeline: 8 })],
      [primary('presumed'), away('b'), away('c')],
    ];

    expect(outcome(...rounds)).toMatchObject({ primary: nobody, excluded: { presumed: 'fenced' } });
  });

  it.each<[string, Told, Told, string | undefined]>([
    ['recovery', { isInRecovery: undefined }, { isInRecovery: undefined }, 'presumed'],
    ['recovery and timelines', { ...untold, isInRecovery: undefined }, untold, 'presumed'],
    ['timelines', untold, untold, 'presumed'],
  ])('keeps the configured primary on an engine without %s', (_, first, second, expected) => {
    const round = [primary('presumed', first), candidate('b', reportOf('replica', second))];

    expect(outcome(round, round)).toMatchObject({ primary: expected, excluded: {} });
  });
});

describe('The elections of a cluster whose servers do what they like', () => {
  const TIMES = 40;

  interface World {
    readonly rounds: readonly (readonly Named[])[];
    readonly shuffled: readonly (readonly Named[])[];
  }

  /** Servers come and go, are promoted and demoted; `d` is of another cluster. */
  function worldOf(seed: number): World {
    const random = seededRandom(seed);
    const any = (): boolean => random() < 0.5;
    const wasInRecovery = new Set<string>();
    let newest = 1;
    const reportFor = (name: string): ServerReport | undefined => {
      if (random() < 0.3) return undefined;
      if (random() < 0.1) newest++;
      const isReplica = name === 'presumed' ? random() < 0.3 : random() < 0.7;
      const isForeign = name === 'd';
      if (isReplica && !isForeign) wasInRecovery.add(name);
      return reportOf(isReplica ? 'replica' : 'primary', {
        systemId: isForeign ? '9' : '7',
        timeline: isForeign ? 50 : 1 + Math.floor(random() * newest),
        isTimelineCurrent: !isReplica || any(),
      });
    };
    const rounds = Array.from({ length: 12 }, () =>
      ['presumed', 'b', 'c', 'd'].map((name) =>
        candidate(name, reportFor(name), wasInRecovery.has(name)),
      ),
    );
    const shuffled = rounds.map((round) =>
      round
        .map((one) => ({ one, key: random() }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ one }) => one),
    );
    return { rounds, shuffled };
  }

  const worlds = Array.from({ length: TIMES }, (_, seed) => worldOf(seed));
  const proved = [primary('presumed'), away('b'), away('c'), away('d')];

  it('have one primary at most, and exclude every other server that claims to be it', () => {
    for (const { rounds } of worlds) {
      for (let length = 1; length <= rounds.length; length++) {
        const { primary: winner, excluded } = outcome(...rounds.slice(0, length));
        const claims = (rounds[length - 1] ?? []).filter(
          (one) => one.report?.isInRecovery === false,
        );
        const left = claims.filter(({ name }) => !(name in excluded)).map(({ name }) => name);
        expect(left).toEqual(winner === undefined ? [] : [winner]);
      }
    }
  });

  it('never have one on a lower timeline than was ever seen', () => {
    for (const { rounds } of worlds) {
      let highest = 1;
      for (let length = 1; length <= rounds.length; length++) {
        const round = rounds[length - 1] ?? [];
        const { primary: winner } = outcome(proved, ...rounds.slice(0, length));
        const own = round.filter(({ name, report }) => name !== 'd' && report !== undefined);
        // One that is not known to be of the cluster proves nothing.
        highest = Math.max(highest, ...own.map(({ report }) => report?.timeline ?? 0));
        const timeline = round.find(({ name }) => name === winner)?.report?.timeline ?? highest;
        expect(timeline).toBe(highest);
      }
    }
  });

  it('never have a foreign one', () => {
    for (const { rounds } of worlds) {
      for (let length = 1; length <= rounds.length; length++) {
        const { primary: winner, excluded } = outcome(proved, ...rounds.slice(0, length));
        const isThere = rounds[length - 1]?.find(({ name }) => name === 'd')?.report !== undefined;
        expect(winner).not.toBe('d');
        expect(excluded['d']).toBe(isThere ? 'foreign' : undefined);
      }
    }
  });

  it('do not depend on the order of the hosts, but for which of equals wins', () => {
    for (const { rounds, shuffled } of worlds) {
      const one = outcome(proved, ...rounds);
      const other = outcome(proved, ...shuffled);
      const timelineOf = (name: string | undefined): number | undefined =>
        rounds.at(-1)?.find((named) => named.name === name)?.report?.timeline;
      expect(timelineOf(other.primary)).toBe(timelineOf(one.primary));
      expect(other.memory).toEqual(one.memory);
      expect(Object.keys(other.excluded)).toHaveLength(Object.keys(one.excluded).length);
    }
  });
});

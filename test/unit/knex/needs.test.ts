import { describe, expect, it } from '@jest/globals';
import type { ConsistencyMode } from '../../../lib/config/consistency-options.ts';
import { Session } from '../../../lib/consistency/session.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { assertPossible, consistencyOf, needOf } from '../../../lib/knex/needs.ts';
import type { Surroundings } from '../../../lib/knex/needs.ts';
import { tellRoles } from '../../support/hosts.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();
const mark = { timeline: 1, lsn: 100n };

function session(mode: ConsistencyMode = 'session', monotonic = false): Session {
  const made = new Session({ mode, waitMillis: 30, monotonic, isStrict: true }, 0);
  made.noteWritten(mark, 5);
  return made;
}

describe('consistencyOf', () => {
  it.each<[string, Surroundings, ConsistencyMode, object]>([
    ['a read', {}, 'session', { isTracked: true, need: { mark } }],
    ['an eventual one', {}, 'eventual', {}],
    ['one told to be', { hint: { consistency: 'eventual' } }, 'session', {}],
    ['a strong one', {}, 'strong', { isTracked: true, isStrong: true }],
    [
      'one told to be',
      { hint: { consistency: 'strong' } },
      'session',
      { isTracked: true, isStrong: true },
    ],
    [
      'one told to see it',
      { hint: { consistency: 'session' } },
      'eventual',
      { isTracked: true, need: { mark } },
    ],
    ['one of a named host', { hint: { host: 'a' } }, 'session', { isTracked: true }],
    [
      'one of a named host, told to see it',
      { hint: { host: 'a', consistency: 'session' } },
      'session',
      { isTracked: true, need: { mark } },
    ],
    [
      'a strong one of replicas',
      { hint: { target: 'replica' } },
      'strong',
      { isTracked: true, need: { mark } },
    ],
    [
      'a strong one in a scope of replicas',
      { scope: 'replica' },
      'strong',
      { isTracked: true, need: { mark } },
    ],
    [
      'one told to be strong there',
      { scope: 'replica', hint: { consistency: 'strong' } },
      'session',
      { isTracked: true, isStrong: true },
    ],
  ])('says what %s has to see: %o under %s', async (_, surroundings, mode, expected) => {
    const { split } = await make();
    const of = session(mode);

    const { session: own, ...part } = consistencyOf(split(), 'read', surroundings, of);

    expect(own).toBe(of);
    expect(part).toMatchObject(expected);
    expect(Object.keys(part).toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it('asks no replica for what only the primary has', async () => {
    const { split } = await make();
    const hint = { target: 'replica', consistency: 'strong' } as const;

    expect(() => consistencyOf(split(), 'read', { hint }, session())).toThrow(ConfigError);
  });

  it('needs nothing for a write, which is captured', async () => {
    const { split } = await make();

    expect(consistencyOf(split(), 'write', {}, session())).toMatchObject({ isTracked: true });
    expect(consistencyOf(split(), 'write', {}, session()).need).toBeUndefined();
  });
});

describe('needOf', () => {
  it('lets a read wait for as long as its session says', async () => {
    const { split } = await make();
    const before = performance.now();

    const need = needOf(split(), session(), 'session');

    expect(need?.waitUntil).toBeGreaterThanOrEqual(before + 30);
    expect(need?.ageMillis).toBeGreaterThanOrEqual(before - 5);
  });

  it.each<[string, ConsistencyMode, boolean, boolean]>([
    ['a session', 'session', false, true],
    ['monotonic reads', 'eventual', true, true],
    ['a strong read', 'strong', false, false],
  ])('is the primary where the position is not known: %s', async (_, mode, monotonic, needs) => {
    const { split } = await make();
    const uncertain = session(mode, monotonic);
    uncertain.doubt();

    const need = needOf(split(), uncertain, mode);

    expect([need !== undefined, need?.mark]).toEqual([needs, undefined]);
  });

  it('is the primary after a promotion: what was written before may have another position', async () => {
    const { split } = await make();
    const { cluster } = split();
    expect(needOf(split(), session(), 'session')?.mark).toEqual(mark);

    tellRoles(cluster, 'primary:5432', { timeline: 2 });

    expect(needOf(split(), session(), 'session')).toMatchObject({ mark: undefined });
  });

  it('is nothing where nothing was written', async () => {
    const { split } = await make();
    const settings = session().settings;

    expect(needOf(split(), new Session(settings, 0), 'session')).toBeUndefined();
  });
});

describe('assertPossible', () => {
  it.each<[ConsistencyMode, string, RegExp]>([
    ['eventual', 'any', /^$/],
    ['session', 'replica', /^$/],
    ['strong', 'split', /^$/],
    ['session', 'any', /target "any" knows none; use 'eventual'/],
    ['strong', 'any', /target "any" knows none; use 'eventual'/],
    ['strong', 'replica', /target "replica" never reads there; use 'session' or 'eventual'/],
  ])('judges %s with the target %s', (mode, target, message) => {
    let refusal = '';
    try {
      assertPossible(mode, target);
    } catch (error) {
      refusal = String(error);
    }

    expect(refusal).toMatch(message);
  });
});

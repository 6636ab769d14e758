import { describe, expect, it } from '@jest/globals';
import type { HealthSettings } from '../../../lib/config/settings.ts';
import {
  afterFailedProbe,
  afterGoodProbe,
  afterSignal,
  probeDelay,
  rampShare,
  unknownHealth,
} from '../../../lib/hosts/health.ts';
import type { Ailment, Health } from '../../../lib/hosts/health.ts';
import { healthSettings } from '../../support/hosts.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const NOW = 1000;
const old: Ailment = { trouble: 'silent', reason: 'before' };
const fresh: Ailment = { trouble: 'refused', reason: 'just now' };
const wrong: Ailment = { trouble: 'misconfigured', reason: 'no such database' };
const course = { since: 1, setbacks: 4, readmittedAt: 7 };

const unknown = unknownHealth;
const up: Health = { state: 'up', ...course };
const suspect = (failures: number): Health => ({ state: 'suspect', ...course, ...old, failures });
const down: Health = { state: 'down', ...course, ...old };
const halfOpen = (successes: number): Health => ({
  state: 'half-open',
  ...course,
  ...old,
  successes,
});

/** `up up down …`: runs a host through probes, `+` for a good one and `-` for a failed one. */
function run(events: string, settings: HealthSettings = healthSettings): readonly string[] {
  let health = unknown;
  let now = 0;
  return Array.from(events, (event) => {
    now += probeDelay(health, settings);
    health =
      event === '+'
        ? afterGoodProbe(health, now, settings)
        : afterFailedProbe(health, now, fresh, settings);
    return health.state;
  });
}

/** How long it takes until each of the next probes of a host that fails all of them. */
function delays(count: number, settings: HealthSettings, ailment: Ailment = fresh): number[] {
  let health = unknown;
  let now = 0;
  return Array.from({ length: count }, () => {
    health = afterFailedProbe(health, now, ailment, settings);
    const delay = probeDelay(health, settings);
    now += delay;
    return delay;
  });
}

describe('afterGoodProbe', () => {
  it.each<[string, Health, Partial<Health>]>([
    ['unknown', unknown, { state: 'up', since: NOW, setbacks: 0, readmittedAt: undefined }],
    ['suspect', suspect(2), { state: 'up', ...course, since: NOW }],
    ['down', down, { state: 'half-open', ...course, since: NOW, ...old, successes: 1 }],
    ['half-open', halfOpen(1), { state: 'up', since: NOW, setbacks: 4, readmittedAt: NOW }],
  ])('makes of a host that was %s', (_, health, expected) => {
    expect(afterGoodProbe(health, NOW, healthSettings)).toEqual(expected);
  });

  it('asks for as many good probes as `rise` says', () => {
    const settings = { ...healthSettings, rise: 4 };

    expect(afterGoodProbe(halfOpen(2), NOW, settings)).toEqual({ ...halfOpen(3), since: 1 });
    expect(afterGoodProbe(halfOpen(3), NOW, settings).state).toBe('up');
  });

  it('forgets setbacks once the host stayed up for as long as they would keep it away', () => {
    expect(afterGoodProbe(up, 1 + 7999, healthSettings)).toBe(up);
    expect(afterGoodProbe(up, 1 + 8000, healthSettings)).toEqual({ ...up, setbacks: 0 });
  });

  it('changes nothing of a host without setbacks', () => {
    const steady: Health = { ...up, setbacks: 0 };

    expect(afterGoodProbe(steady, 1e9, healthSettings)).toBe(steady);
  });
});

describe('afterFailedProbe', () => {
  it.each<[string, Health, Partial<Health>]>([
    [
      'unknown',
      unknown,
      { state: 'suspect', since: NOW, setbacks: 0, readmittedAt: undefined, failures: 1, ...fresh },
    ],
    ['up', up, { state: 'suspect', ...course, since: NOW, failures: 1, ...fresh }],
    ['suspect', suspect(1), { state: 'suspect', ...course, failures: 2, ...fresh }],
    ['suspect twice', suspect(2), { state: 'down', ...course, since: NOW, setbacks: 5, ...fresh }],
    [
      'down',
      { ...down, since: NOW - 8000 },
      { state: 'down', ...course, since: NOW - 8000, setbacks: 5, ...fresh },
    ],
    ['down, and was asked early', down, { state: 'down', ...course, setbacks: 4, ...fresh }],
    ['half-open', halfOpen(1), { state: 'down', ...course, since: NOW, setbacks: 5, ...fresh }],
  ])('makes of a host that was %s', (_, health, expected) => {
    expect(afterFailedProbe(health, NOW, fresh, healthSettings)).toEqual(expected);
  });

  it.each<[string, Health]>([
    ['unknown', unknown],
    ['up', up],
    ['suspect', suspect(0)],
    ['half-open', halfOpen(1)],
  ])('takes a misconfigured host that was %s down at once', (_, health) => {
    expect(afterFailedProbe(health, NOW, wrong, healthSettings)).toMatchObject({
      state: 'down',
      ...wrong,
    });
  });
});

describe('afterSignal', () => {
  it.each<[string, Health]>([
    ['unknown', unknown],
    ['up', up],
  ])('makes a host suspect that was %s, which counts for no failed probe', (_, health) => {
    expect(afterSignal(health, NOW, fresh)).toEqual({
      state: 'suspect',
      since: NOW,
      setbacks: health.setbacks,
      readmittedAt: health.readmittedAt,
      failures: 0,
      ...fresh,
    });
  });

  it.each<[string, Health]>([
    ['suspect', suspect(1)],
    ['down', down],
    ['half-open', halfOpen(1)],
  ])('changes nothing of a host that was %s', (_, health) => {
    expect(afterSignal(health, NOW, fresh)).toBe(health);
  });
});

describe('A host that is probed', () => {
  it.each([
    ['+', 'up'],
    ['-++', 'suspect up up'],
    ['---', 'suspect suspect down'],
    ['+--+', 'up suspect suspect up'],
    ['+---++', 'up suspect suspect down half-open up'],
    ['---+-++', 'suspect suspect down half-open down half-open up'],
  ])('goes with %s through %s', (events, states) => {
    expect(run(events).join(' ')).toBe(states);
  });

  it.each([
    ['-', 'down'],
    ['+-+-', 'up down up down'],
  ])('goes with a fall and a rise of 1 and %s through %s', (events, states) => {
    expect(run(events, { ...healthSettings, fall: 1, rise: 1 }).join(' ')).toBe(states);
  });

  it('has a state that its last probes explain, whatever comes', () => {
    const random = seededRandom(11);
    const unexplained: string[] = [];
    for (let round = 0; round < 50; round++) {
      const rise = 1 + Math.floor(random() * 3);
      const fall = 1 + Math.floor(random() * 3);
      const events = Array.from({ length: 40 }, () => (random() < 0.5 ? '+' : '-')).join('');
      const states = run(events, { ...healthSettings, rise, fall });
      for (const [index, state] of states.entries()) {
        const past = events.slice(0, index + 1);
        const allowed = past.endsWith('+') ? ['up', 'half-open'] : ['suspect', 'down'];
        if (past.endsWith('+'.repeat(rise))) allowed.splice(1);
        if (past.endsWith('-'.repeat(fall))) allowed.splice(0, 1);
        if (!allowed.includes(state)) unexplained.push(`${past} → ${state}`);
      }
    }

    expect(unexplained).toEqual([]);
  });
});

describe('probeDelay', () => {
  it.each<[string, Health, number]>([
    ['unknown', unknown, 0],
    ['up', up, 5000],
    ['suspect', suspect(1), 250],
    ['down', down, 8000],
    ['half-open', halfOpen(1), 5000],
    ['half-open for the first time', { ...halfOpen(1), setbacks: 1 }, 1000],
  ])('of a host that is %s', (_, health, delay) => {
    expect(probeDelay(health, healthSettings)).toBe(delay);
  });

  it('is never longer than the interval before the host is down', () => {
    const settings = { ...healthSettings, intervalMillis: 100 };

    expect(delays(4, settings)).toEqual([100, 100, 100, 200]);
  });

  it('doubles with each failure of a host that is down, up to a limit', () => {
    expect(delays(10, healthSettings).slice(2)).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
    ]);
  });

  it('stays a number after any number of failures', () => {
    const settings = { ...healthSettings, backoffMaxMillis: 2 ** 31 - 1 };
    const health: Health = { ...down, setbacks: 5000 };

    expect(probeDelay(health, settings)).toBe(2 ** 31 - 1);
  });

  it('stays short for a host that says that it starts, but not for ever', () => {
    const starting: Ailment = { trouble: 'starting', reason: 'the database system is starting up' };
    const seen = delays(100, healthSettings, starting);

    expect(Math.max(...seen.slice(0, 30))).toBe(1000);
    expect(seen.at(-1)).toBe(60_000);
  });

  it('remembers the setbacks of a host that comes and goes', () => {
    const flap = (times: number): number => {
      let health = unknown;
      let now = 0;
      for (let i = 0; i < times; i++) {
        for (const isGood of [true, true, false, false, false]) {
          health = isGood
            ? afterGoodProbe(health, now, healthSettings)
            : afterFailedProbe(health, now, fresh, healthSettings);
          now += 250;
        }
      }
      return probeDelay(health, healthSettings);
    };

    expect([1, 2, 3, 4].map(flap)).toEqual([1000, 2000, 4000, 8000]);
  });
});

describe('rampShare', () => {
  it.each<[string, number | undefined, number, number]>([
    ['a host that never went down', undefined, 0, 1],
    ['right after the return', 1000, 1000, 0.1],
    ['half-way', 1000, 6000, 0.5],
    ['at the end', 1000, 11_000, 1],
    ['later', 1000, 99_000, 1],
    ['before the return, on a clock that is read late', 1000, 900, 0.1],
  ])('of %s', (_, readmittedAt, now, share) => {
    expect(rampShare({ ...up, readmittedAt }, now, 10_000)).toBe(share);
  });

  it('is whole at once where there is no slow start', () => {
    expect(rampShare({ ...up, readmittedAt: NOW }, NOW, 0)).toBe(1);
  });
});

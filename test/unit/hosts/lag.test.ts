import { describe, expect, it } from '@jest/globals';
import type { Lag } from '../../../lib/hosts/lag.ts';
import { LagMeter, lagProblem } from '../../../lib/hosts/lag.ts';
import type { ServerReport } from '../../../lib/hosts/server-report.ts';
import { makeReport } from '../../support/hosts.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** A meter that saw the primary at each position at a time. */
function meterOf(...sightings: readonly (readonly [at: number, position: bigint])[]): LagMeter {
  const meter = new LagMeter();
  for (const [at, position] of sightings) meter.note(position, at);
  return meter;
}

function replica(position: bigint | undefined, told: Partial<ServerReport> = {}): ServerReport {
  return makeReport({ isInRecovery: true, position, ...told });
}

describe('LagMeter', () => {
  it.each<[string, readonly (readonly [number, bigint])[], ServerReport, number, Lag]>([
    [
      'none on a primary that is idle for long, however old the last transaction is',
      [
        [0, 10n],
        [3_600_000, 10n],
      ],
      replica(10n, { replayAgeMillis: 3_600_000 }),
      3_600_000,
      { bytes: 0, millis: 0 },
    ],
    [
      'none of a replica that is ahead of the last sighting',
      [[0, 10n]],
      replica(12n, { replayAgeMillis: 9 }),
      5000,
      { bytes: 0, millis: 0 },
    ],
    [
      'all the time since the primary moved on, of a replica that is cut off',
      [
        [0, 10n],
        [5000, 20n],
        [10_000, 30n],
        [15_000, 40n],
      ],
      replica(10n, { replayAgeMillis: 15_100 }),
      15_000,
      { bytes: 30, millis: 15_000 },
    ],
    [
      'as much while the primary is idle again',
      [
        [0, 10n],
        [5000, 20n],
        [60_000, 20n],
      ],
      replica(10n, { replayAgeMillis: 60_100 }),
      60_000,
      { bytes: 10, millis: 60_000 },
    ],
    [
      'at most the time since the last sighting, after one write that ends a long idleness',
      [
        [0, 10n],
        [3_600_000, 10n],
        [3_605_000, 20n],
      ],
      replica(10n, { replayAgeMillis: 3_605_000 }),
      3_605_010,
      { bytes: 10, millis: 5010 },
    ],
    [
      'what the replica says of a lag shorter than the time between probes',
      [
        [0, 10n],
        [5000, 1000n],
      ],
      replica(990n, { replayAgeMillis: 40 }),
      5010,
      { bytes: 10, millis: 40 },
    ],
    [
      'at least the time since it was missing something, whatever it says',
      [
        [0, 10n],
        [5000, 1000n],
      ],
      replica(990n, { replayAgeMillis: 0 }),
      9000,
      { bytes: 10, millis: 4000 },
    ],
    [
      'at least the time of all sightings, of one that is behind all of them',
      [[1000, 10n]],
      replica(9n),
      4000,
      { bytes: 1, millis: 3000 },
    ],
  ])('tells %s', (_, sightings, report, now, lag) => {
    expect(meterOf(...sightings).lagOf(report, now)).toEqual(lag);
  });

  it('stands still while there is no primary, which nobody can fall behind', () => {
    const meter = meterOf([0, 10n], [5000, 20n]);

    expect(meter.lagOf(replica(20n), undefined)).toEqual({ bytes: 0, millis: 0 });
    expect(meter.lagOf(replica(15n, { replayAgeMillis: 9e6 }), undefined)).toEqual({
      bytes: 5,
      millis: 5000,
    });
  });

  it.each<[string, ServerReport, number | undefined]>([
    [
      'none of one that has replayed all that it receives',
      replica(9n, { receivedPosition: 9n, isReceiving: true, replayAgeMillis: 7000 }),
      0,
    ],
    [
      'the age of its last transaction, of one that is behind in replay',
      replica(8n, { receivedPosition: 9n, isReceiving: true, replayAgeMillis: 7000 }),
      7000,
    ],
    [
      'the age of its last transaction, of one that receives nothing',
      replica(9n, { receivedPosition: 9n, isReceiving: false, replayAgeMillis: 7000 }),
      7000,
    ],
    [
      'the age of its last transaction, of one that does not tell whether it receives',
      replica(9n, { receivedPosition: 9n, replayAgeMillis: 7000 }),
      7000,
    ],
    ['the age, where no position is told', replica(undefined, { replayAgeMillis: 5 }), 5],
    ['nothing, of one that tells nothing', replica(undefined), undefined],
  ])('tells, where nobody saw the primary, %s', (_, report, millis) => {
    expect(new LagMeter().lagOf(report, 10_000)).toEqual({ bytes: undefined, millis });
  });

  it.each<[string, ServerReport, Lag]>([
    ['nothing', replica(9n, { replayAgeMillis: 9e6 }), { bytes: 0, millis: 0 }],
    [
      'nothing more than it received',
      replica(9n, { receivedPosition: 9n, isReceiving: false, replayAgeMillis: 9e6 }),
      { bytes: 0, millis: 0 },
    ],
    [
      'what it received and does not show',
      replica(7n, { receivedPosition: 9n, replayAgeMillis: 5000 }),
      { bytes: 2, millis: 5000 },
    ],
    [
      'all, by the age alone',
      replica(undefined, { replayAgeMillis: 5 }),
      { bytes: undefined, millis: 5 },
    ],
  ])('lets a replica of a primary that nobody ever saw miss %s', (_, report, lag) => {
    expect(new LagMeter().lagOf(report, undefined)).toEqual(lag);
  });

  it.each<[string, number, ServerReport, Lag]>([
    ['the sighting', 7000, replica(15n, { replayAgeMillis: 40 }), { bytes: 5, millis: 2000 }],
    [
      'the word of the replica, where the primary does not say where it is by now',
      7001,
      replica(15n, { replayAgeMillis: 40 }),
      { bytes: undefined, millis: 40 },
    ],
    [
      'the word of a replica that would be ahead',
      7001,
      replica(25n, { receivedPosition: 25n, isReceiving: false, replayAgeMillis: 6000 }),
      { bytes: undefined, millis: 6000 },
    ],
  ])('goes by %s: at %d', (_, now, report, lag) => {
    const meter = new LagMeter(2000);
    meter.note(20n, 5000);

    expect(meter.lagOf(report, now)).toEqual(lag);
  });

  it('goes by an old sighting, too, where the primary is gone', () => {
    const meter = new LagMeter(2000);
    meter.note(20n, 5000);

    expect(meter.lagOf(replica(15n), undefined)).toEqual({ bytes: 5, millis: 0 });
  });

  it('forgets positions that a promotion may have abandoned', () => {
    const meter = meterOf([0, 10n], [5000, 2000n]);

    meter.forget();
    meter.note(100n, 6000);

    expect(meter.lagOf(replica(100n), 6000)).toEqual({ bytes: 0, millis: 0 });
  });

  it('never loses the newest position, nor tells a shorter lag for the many that it drops', () => {
    const meter = new LagMeter();
    const told = new Set<number | undefined>();
    for (let i = 0; i <= 2000; i++) {
      meter.note(BigInt(i), i * 1000);
      told.add(meter.lagOf(replica(BigInt(i) - 1n), i * 1000).bytes);
    }

    expect([...told]).toEqual([1]);
    const { bytes, millis } = meter.lagOf(replica(500n), 2_000_000);
    expect(bytes).toBe(1500);
    expect(millis).toBeGreaterThanOrEqual(1_480_000);
  });

  it('tells a number, and none below zero, whatever is seen', () => {
    const random = seededRandom(5);
    const meter = new LagMeter();
    const all: (number | undefined)[] = [];
    for (let i = 0; i < 1000; i++) {
      meter.note(BigInt(Math.floor(random() * i * 10)), i * 100);
      const told = random() < 0.5 ? { replayAgeMillis: random() * 1000 } : {};
      const { bytes, millis } = meter.lagOf(
        replica(BigInt(Math.floor(random() * i * 10)), told),
        i * 100 + 5 - random() * 10,
      );
      all.push(bytes, millis);
    }

    expect(all.filter((value) => value === undefined || !(value >= 0))).toEqual([]);
  });
});

describe('lagProblem', () => {
  const limits = { millis: 1000, bytes: 100 };

  it.each<[string, Lag, typeof limits | false, boolean, RegExp | undefined]>([
    ['at the limits', { millis: 1000, bytes: 100 }, limits, false, undefined],
    ['too late', { millis: 1001, bytes: 0 }, limits, false, /lags 1001 ms, and may 1000 ms/],
    ['too far', { millis: 0, bytes: 101 }, limits, false, /lags 101 bytes, and may 100 bytes/],
    ['back below the limit', { millis: 501, bytes: 0 }, limits, true, /lags 501 ms, and may 500/],
    ['back at half of it', { millis: 500, bytes: 50 }, limits, true, undefined],
    ['far behind without a limit', { millis: 9e9, bytes: 9e9 }, false, true, undefined],
    ['of unknown age', { millis: undefined, bytes: 0 }, limits, false, /unknown.*maxLag\.millis/],
    ['of unknown way', { millis: 0, bytes: undefined }, limits, false, /unknown.*maxLag\.bytes/],
  ])('of a replica that is %s', (_, lag, some, wasLagging, problem) => {
    expect(lagProblem(lag, some, wasLagging) ?? 'none').toMatch(problem ?? /^none$/);
  });

  it('minds only what is limited', () => {
    const lag = { millis: undefined, bytes: 5 };

    expect(lagProblem(lag, { millis: undefined, bytes: 5 }, false)).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import type { HistoryEvent, Operation } from '../../support/history.ts';
import { findViolations } from '../../support/history-checker.ts';

type Step = [session: string, from: number, to: number, ...operations: Operation[]];

const write = (version: string, key = 'k'): Operation => ({ kind: 'write', key, version });
const read = (versions: string, key = 'k'): Operation => ({
  kind: 'read',
  key,
  versions: Array.from(versions),
});

function event(
  [session, beganAt, endedAt, ...operations]: Step,
  more: Partial<HistoryEvent> = {},
): HistoryEvent {
  return {
    kind: operations.length === 1 && operations[0] ? operations[0].kind : 'transaction',
    session,
    process: 'p',
    isMonotonic: false,
    beganAt,
    endedAt,
    outcome: 'ok',
    operations,
    ...more,
  };
}

function broken(history: readonly HistoryEvent[], finally_: string): string[] {
  const final = new Map([['k', new Set(finally_)]]);
  return findViolations(history, final).map(({ rule, version }) => `${rule}: ${version}`);
}

const monotonic = { isMonotonic: true };
const failed = { outcome: 'failed' } as const;
const unknown = { outcome: 'unknown' } as const;

describe('findViolations', () => {
  it.each<[string, HistoryEvent[], string]>([
    ['nothing', [], ''],
    [
      'a read that sees the write before it',
      [event(['s', 0, 1, write('a')]), event(['s', 1, 2, read('a')])],
      'a',
    ],
    [
      'a read of another session, or of another key, that does not',
      [
        event(['s', 0, 1, write('a')]),
        event(['t', 2, 3, read('')]),
        event(['s', 2, 3, read('', 'l')]),
      ],
      'a',
    ],
    [
      'a read that began before the write had ended',
      [event(['s', 0, 2, write('a')]), event(['s', 1, 3, read('')])],
      'a',
    ],
    [
      'a transaction that reads what it wrote, and is rolled back',
      [event(['s', 0, 1, write('a'), read('a')], failed), event(['s', 1, 2, read('')])],
      '',
    ],
    [
      'reads of one session in either order, unless it is monotonic',
      [event(['s', 0, 1, write('a')]), event(['t', 2, 3, read('a')]), event(['t', 4, 5, read('')])],
      'a',
    ],
    [
      'monotonic reads at the same time',
      [
        event(['s', 0, 1, write('a')]),
        event(['t', 2, 4, read('a')], monotonic),
        event(['t', 3, 5, read('')], monotonic),
      ],
      'a',
    ],
    [
      'an unknown outcome that was a success',
      [event(['s', 0, 1, write('a')], unknown), event(['s', 2, 3, read('')])],
      'a',
    ],
    ['an unknown outcome that was a failure', [event(['s', 0, 1, write('a')], unknown)], ''],
    [
      'an unknown outcome that was seen before it was lost with the primary',
      [
        event(['s', 0, 1, write('a')], unknown),
        event(['t', 2, 3, read('a')], monotonic),
        event(['t', 4, 5, read('')], monotonic),
      ],
      '',
    ],
    [
      'a transaction that sees half of itself',
      [event(['s', 0, 1, write('a'), read('a'), write('b'), read('ab')])],
      'ab',
    ],
  ])('allows %s', (_, history, final) => {
    expect(broken(history, final)).toEqual([]);
  });

  it.each<[string, HistoryEvent[], string, string[]]>([
    [
      'an acknowledged write that is lost',
      [event(['s', 0, 1, write('a')])],
      '',
      ['no lost write: a'],
    ],
    [
      'a failed write that is there',
      [event(['s', 0, 1, write('a')], failed)],
      'a',
      ['no invented write: a'],
    ],
    ['a version that nobody wrote', [], 'a', ['no invented write: a']],
    [
      'a read after a write that does not see it',
      [event(['s', 0, 1, write('a')]), event(['s', 1, 2, read('')])],
      'a',
      ['read your writes: a'],
    ],
    [
      'that in another process',
      [event(['s', 0, 1, write('a')]), event(['s', 1, 2, read('')], { process: 'q' })],
      'a',
      ['read your writes: a'],
    ],
    [
      'that in a monotonic session, once',
      [
        event(['s', 0, 1, write('a')], monotonic),
        event(['s', 1, 2, read('a')], monotonic),
        event(['s', 3, 4, read('')], monotonic),
      ],
      'a',
      ['read your writes: a'],
    ],
    [
      'that with events told in another order',
      [event(['s', 1, 2, read('')]), event(['s', 0, 1, write('a')])],
      'a',
      ['read your writes: a'],
    ],
    [
      'that though a longer event of the session goes on',
      [event(['s', 0, 9, read('')]), event(['s', 1, 2, write('a')]), event(['s', 3, 4, read('')])],
      'a',
      ['read your writes: a'],
    ],
    [
      'a transaction that does not see what it wrote',
      [event(['s', 0, 1, write('a'), read('')])],
      'a',
      ['read your writes: a'],
    ],
    [
      'a monotonic read that sees less than the one before it',
      [
        event(['s', 0, 1, write('a')]),
        event(['t', 2, 3, read('a')], monotonic),
        event(['t', 3, 4, read('')], monotonic),
      ],
      'a',
      ['monotonic reads: a'],
    ],
    [
      'that of a write of unknown outcome that is not lost',
      [
        event(['s', 0, 1, write('a')], unknown),
        event(['t', 2, 3, read('a')], monotonic),
        event(['t', 3, 4, read('')], monotonic),
      ],
      'a',
      ['monotonic reads: a'],
    ],
    [
      'a later write of a session without the earlier one',
      [
        event(['s', 0, 1, write('a')]),
        event(['s', 1, 2, write('b')]),
        event(['t', 3, 4, read('b')]),
      ],
      'ab',
      ['monotonic writes: a'],
    ],
    [
      'a later write without one of those at the same time before it, or what came before these',
      [
        event(['s', 0, 1, write('a')]),
        event(['s', 2, 5, write('b')]),
        event(['s', 3, 4, write('c')]),
        event(['s', 6, 7, write('d')]),
        event(['t', 8, 9, read('d')]),
        event(['t', 8, 9, read('bcd')]),
      ],
      'abcd',
      ['monotonic writes: b', 'monotonic writes: c', 'monotonic writes: a', 'monotonic writes: a'],
    ],
    [
      'half of a transaction',
      [event(['s', 0, 1, write('a'), write('b')]), event(['t', 2, 3, read('b')])],
      'ab',
      ['whole transactions: a'],
    ],
    [
      'a read of what was rolled back',
      [event(['s', 0, 1, write('a')], failed), event(['t', 2, 3, read('a')])],
      '',
      ['no invented write: a'],
    ],
    [
      'a read of what was not written yet',
      [event(['t', 0, 1, read('a')]), event(['s', 2, 3, write('a')])],
      'a',
      ['no invented write: a'],
    ],
  ])('finds %s', (_, history, final, expected) => {
    expect(broken(history, final)).toEqual(expected);
  });

  it('says which read it was', () => {
    const stale = event(['s', 1, 2, read('')]);
    const history = [event(['s', 0, 1, write('a')]), stale];

    const [violation] = findViolations(history, new Map([['k', new Set('a')]]));

    expect(violation?.event).toBe(stale);
  });
});

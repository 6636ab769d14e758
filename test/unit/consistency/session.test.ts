import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ConsistencyMode } from '../../../lib/config/consistency-options.ts';
import type { Mark } from '../../../lib/consistency/mark.ts';
import { isBefore } from '../../../lib/consistency/mark.ts';
import { Session, type SessionSettings } from '../../../lib/consistency/session.ts';
import type { TokenContent } from '../../../lib/consistency/token.ts';

const usual: SessionSettings = { mode: 'session', waitMillis: 0, monotonic: false, isStrict: true };
const monotonic: SessionSettings = { ...usual, monotonic: true };

function at(lsn: bigint, timeline = 1): Mark {
  return { timeline, lsn };
}

function token(told: Partial<TokenContent>): TokenContent {
  return { written: undefined, seen: undefined, isUncertain: false, ...told };
}

function make(settings: SessionSettings = usual, after?: TokenContent): Session {
  return new Session(settings, 0, undefined, after);
}

describe('Session', () => {
  it('has nothing to see before it has written', () => {
    const session = make(monotonic);

    expect(session.floor('session')).toBeUndefined();
    expect(session.isUncertain).toBe(false);
    expect(session.content).toEqual({ written: undefined, seen: undefined, isUncertain: false });
  });

  it('keeps the furthest of what it wrote, and when that was', () => {
    const session = make();
    session.noteWritten(at(200n), 10);

    session.noteWritten(at(100n), 20);
    session.noteWritten(at(200n), 30);

    expect(session.floor('session')).toEqual(at(200n));
    expect(session.changedAt).toBe(10);
  });

  it('takes a later timeline for further, whatever the position', () => {
    const session = make();
    session.noteWritten(at(200n, 1), 10);

    session.noteWritten(at(100n, 2), 20);

    expect(session.content.written).toEqual(at(100n, 2));
  });

  it.each<[ConsistencyMode, boolean, bigint | undefined]>([
    ['session', false, 100n],
    ['eventual', false, undefined],
    ['strong', false, undefined],
    ['session', true, 200n],
    ['eventual', true, 200n],
    ['strong', true, 200n],
  ])('has reads under %s, monotonic: %s, see %s', (mode, isMonotonic, lsn) => {
    const session = make({ ...usual, monotonic: isMonotonic });
    session.noteWritten(at(100n), 0);
    session.noteSeen(at(200n), 0);

    expect(session.floor(mode)).toEqual(lsn === undefined ? undefined : at(lsn));
  });

  it('has monotonic reads see what was written after the last of them', () => {
    const session = make(monotonic);
    session.noteSeen(at(100n), 0);

    session.noteWritten(at(200n), 0);

    expect(session.floor('session')).toEqual(at(200n));
    expect(session.floor('eventual')).toEqual(at(100n));
  });

  it('keeps what reads have seen to itself where they are not monotonic', () => {
    const session = make(usual, token({ seen: at(100n) }));
    session.noteSeen(at(200n), 10);

    expect(session.content.seen).toBeUndefined();
    expect(session.changedAt).toBe(0);
  });

  it('never lets a floor go back, whatever is noted in which order', () => {
    const marks = fc.record({
      timeline: fc.integer({ min: 1, max: 3 }),
      lsn: fc.bigInt({ min: 0n, max: 5n }),
    });
    const notes = fc.array(
      fc.oneof(
        marks.map((mark) => (session: Session) => session.noteWritten(mark, 1)),
        marks.map((mark) => (session: Session) => session.noteSeen(mark, 1)),
        marks.map((mark) => (session: Session) => session.settle(mark, session.doubts, 1)),
        fc.constant((session: Session) => session.doubt()),
        fc.constant((session: Session) => session.confirm(at(1000n))),
      ),
    );
    const modes = fc.constantFrom<ConsistencyMode>('session', 'eventual', 'strong');
    fc.assert(
      fc.property(notes, modes, fc.boolean(), (list, mode, isMonotonic) => {
        const session = make({ ...usual, monotonic: isMonotonic });
        let before: Mark | undefined;
        for (const note of list) {
          note(session);
          const floor = session.floor(mode);
          const isBack = before !== undefined && (floor === undefined || isBefore(floor, before));
          expect(isBack).toBe(false);
          before = floor;
        }
      }),
    );
  });
});

describe('Session, where a position is not known', () => {
  it('is uncertain until the primary has told a position', () => {
    const session = make();
    session.doubt();
    expect(session.isUncertain).toBe(true);

    session.settle(at(100n), session.doubts, 10);

    expect(session.isUncertain).toBe(false);
    expect(session.floor('session')).toEqual(at(100n));
  });

  it('is settled by nothing that was asked before the last doubt', () => {
    const session = make();
    session.doubt();
    const { doubts } = session;
    session.doubt();

    session.settle(at(100n), doubts, 10);

    expect(session.isUncertain).toBe(true);
    expect(session.floor('session')).toEqual(at(100n));
  });

  it('is not made certain by a write whose position is known, nor by what a read saw', () => {
    const session = make(monotonic);
    session.doubt();

    session.noteWritten(at(100n), 0);
    session.noteSeen(at(100n), 0);
    session.confirm(at(100n));

    expect(session.content.isUncertain).toBe(true);
  });
});

describe('Session, within another one', () => {
  it('tells the outer ones what it writes, sees and doubts', () => {
    const outermost = make(monotonic);
    const outer = new Session(usual, 0, outermost);
    const inner = new Session(usual, 0, outer);

    inner.noteWritten(at(100n), 0);
    inner.noteSeen(at(200n), 0);
    inner.doubt();

    expect([outermost, outer].map(({ content }) => content)).toEqual([
      { written: at(100n), seen: at(200n), isUncertain: true },
      { written: at(100n), seen: at(200n), isUncertain: true },
    ]);
  });

  it('tells the outer one nothing of what it began with', () => {
    const outer = make(monotonic);

    const inner = new Session(
      monotonic,
      0,
      outer,
      token({ written: at(100n), seen: at(200n), isUncertain: true }),
    );

    expect(inner.floor('session')).toEqual(at(200n));
    expect(outer.content).toEqual(make().content);
  });

  it('settles the doubts of the outer one with its own', () => {
    const outer = make();
    const inner = new Session(usual, 0, outer);
    inner.doubt();

    inner.settle(at(100n), inner.doubts, 0);

    expect(inner.isUncertain).toBe(false);
    expect(outer.content).toEqual({ written: at(100n), seen: undefined, isUncertain: false });
  });

  it('has to see what is written around it, before it and meanwhile', () => {
    const outer = make();
    outer.noteWritten(at(100n), 10);
    const inner = new Session(usual, 20, outer, token({ written: at(50n) }));
    expect(inner.floor('session')).toEqual(at(100n));

    outer.noteWritten(at(200n), 30);
    outer.doubt();

    expect(inner.floor('session')).toEqual(at(200n));
    expect([inner.isUncertain, inner.changedAt]).toEqual([true, 30]);
    expect(inner.content).toEqual({ written: at(200n), seen: undefined, isUncertain: true });
  });

  it('leaves the outer one alone in a doubt that came while the primary was asked', () => {
    const outer = make();
    const inner = new Session(usual, 0, outer);
    const { doubts } = inner;
    outer.doubt();

    inner.settle(at(100n), doubts, 0);

    expect([inner.isUncertain, outer.isUncertain]).toEqual([true, true]);
  });
});

describe('Session, after a token', () => {
  it.each<[string, (session: Session) => void, boolean]>([
    ['nothing has happened', () => undefined, true],
    ['a server has it', (session) => session.confirm(at(100n)), false],
    ['a server has less', (session) => session.confirm(at(99n)), true],
    ['a write came after it', (session) => session.noteWritten(at(101n), 0), false],
    ['a write came out at it', (session) => session.noteWritten(at(100n), 0), false],
    ['a write came out before it', (session) => session.noteWritten(at(99n), 0), true],
    ['its reads saw more', (session) => session.noteSeen(at(101n), 0), true],
    ['it is in doubt', (session) => session.doubt(), true],
  ])('has only its word for what it has to see, or not: %s', (_, happen, expected) => {
    const session = make(monotonic, token({ written: at(100n) }));

    happen(session);

    expect(session.isGiven).toBe(expected);
  });

  it('has a write confirm no more than what that came after', () => {
    const session = make(monotonic, token({ written: at(1n), seen: at(900n) }));

    session.noteWritten(at(100n), 0);

    expect(session.floor('session')).toEqual(at(900n));
    expect(session.isGiven).toBe(true);
  });

  it('goes on from where the primary is, once the token has proved wrong', () => {
    const wrong = token({ written: at(900n), seen: at(900n) });
    const sessions = [make(monotonic, wrong), make(usual, wrong)];

    for (const session of sessions) session.restart(at(100n), 10);

    expect(sessions.map(({ content: { written, seen } }) => [written, seen])).toEqual([
      [at(100n), at(100n)],
      [at(100n), undefined],
    ]);
    expect(sessions.map(({ isGiven, changedAt }) => [isGiven, changedAt])).toEqual([
      [false, 10],
      [false, 10],
    ]);
  });

  it('sees a write that came out while the token was found wrong', () => {
    const session = make(usual, token({ written: at(900n) }));
    const { doubts } = session;
    session.restart(at(100n), 10);
    session.settle(at(150n), doubts, 20);

    // A second read had asked before that write, and learns of the token only here.
    session.restart(at(120n), 30);

    expect(session.isUncertain).toBe(true);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Mark } from '../../../lib/consistency/mark.ts';
import { Positions } from '../../../lib/consistency/positions.ts';

const server = '10.0.0.2:5432 1700000000';

function at(lsn: bigint, timeline = 1): Mark {
  return { timeline, lsn };
}

function known(...notes: readonly [timeline: number | undefined, lsn: bigint][]): Positions {
  const positions = new Positions();
  for (const [timeline, lsn] of notes) positions.note(server, timeline, lsn);
  return positions;
}

describe('Positions', () => {
  it.each<[string, Mark, boolean]>([
    ['before it', at(99n), true],
    ['at it', at(100n), true],
    ['beyond it', at(101n), false],
    ['before it on a later timeline', at(99n, 2), false],
    ['before it on an earlier timeline', at(99n, 0), false],
  ])('says of a replica at a position whether it has reached a mark %s', (_, mark, expected) => {
    expect(known([1, 100n]).hasReached(server, mark)).toBe(expected);
  });

  it('knows nothing of a server that it has not heard of', () => {
    const positions = known([1, 100n]);

    expect(positions.hasReached('10.0.0.2:5432 1700000001', at(0n))).toBe(false);
    expect(positions.timelineOf('10.0.0.2:5432 1700000001')).toBeUndefined();
  });

  it.each<[string, string | undefined, number | undefined, bigint | undefined]>([
    ['no server', undefined, 1, 100n],
    ['no position', server, 1, undefined],
    ['no timeline, and none is known', server, undefined, 100n],
  ])('learns nothing from an answer with %s', (_, from, timeline, lsn) => {
    const positions = new Positions();

    positions.note(from, timeline, lsn);

    expect(positions.hasReached(server, at(0n))).toBe(false);
    expect(positions.timelineOf(server)).toBeUndefined();
  });

  it('takes an answer without a timeline for one on the known timeline', () => {
    const positions = known([2, 100n], [undefined, 200n]);

    expect(positions.hasReached(server, at(200n, 2))).toBe(true);
  });

  it.each<[string, string | undefined, bigint | undefined, boolean]>([
    ['before it', server, 99n, false],
    ['beyond it', server, 101n, true],
    ['not known', server, undefined, true],
    ['of another server', 'another', 99n, true],
    ['of a server that does not say which', undefined, 99n, true],
  ])('takes a position back where its server begins anew %s', (_, of, lsn, expected) => {
    const positions = known([1, 100n]);

    positions.restart(of, lsn);

    expect(positions.hasReached(server, at(100n))).toBe(expected);
    expect(positions.hasReached(server, at(99n))).toBe(true);
  });

  it('lets no answer that comes late take a position back', () => {
    const positions = known([1, 200n], [1, 100n]);

    expect(positions.hasReached(server, at(200n))).toBe(true);
  });

  it('follows a server to a later timeline, and not back', () => {
    const positions = known([1, 100n], [2, 200n], [1, 90n]);

    expect(positions.timelineOf(server)).toBe(2);
    // What the branch that was given up has there, this server never had.
    expect(positions.hasReached(server, at(150n, 1))).toBe(false);
    expect(positions.hasReached(server, at(200n, 2))).toBe(true);
  });

  it('never unlearns what a server has reached on the timeline that it follows', () => {
    const notes = fc.array(
      fc.tuple(
        fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        fc.bigInt({ min: 0n, max: 9n }),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(notes, (list) => {
        const positions = new Positions();
        let timeline: number | undefined;
        let furthest = -1n;
        for (const [told, lsn] of list) {
          positions.note(server, told, lsn);
          if (told !== undefined) timeline = Math.max(told, timeline ?? told);
          if (timeline !== undefined && lsn > furthest) furthest = lsn;
          expect(positions.timelineOf(server)).toBe(timeline);
          if (timeline === undefined) continue;
          expect(positions.hasReached(server, at(furthest, timeline))).toBe(true);
          expect(positions.hasReached(server, at(furthest + 1n, timeline))).toBe(false);
        }
      }),
    );
  });

  it('forgets those heard of least recently where servers come and go without end', () => {
    const positions = known([1, 100n]);
    const isKnown = (name: string): boolean => positions.timelineOf(name) !== undefined;
    for (let i = 0; i < 255; i++) positions.note(`server ${i}`, 1, 100n);
    positions.note(server, 1, 100n);
    expect(isKnown('server 0')).toBe(true);

    for (let i = 255; i < 355; i++) positions.note(`server ${i}`, 1, 100n);

    expect(isKnown(server)).toBe(true);
    expect([isKnown('server 99'), isKnown('server 100')]).toEqual([false, true]);
  });
});

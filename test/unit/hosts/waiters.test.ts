import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Waiters } from '../../../lib/hosts/waiters.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly waiters: Waiters;
  /** What became of those who waited, in the order in which they went on. */
  readonly gone: string[];
  readonly wait: (name: string, millis?: number) => Promise<void>;
}

function bench(): Bench {
  const clock = new FakeClock();
  const waiters = new Waiters();
  const gone: string[] = [];
  const wait = async (name: string, millis = 100): Promise<void> => {
    const isWoken = await waiters.wait(millis, clock);
    gone.push(isWoken ? name : `${name} in vain`);
  };
  return { clock, waiters, gone, wait };
}

describe('Waiters', () => {
  it('wakes one after the other, in the order in which they came', async () => {
    const { waiters, gone, wait } = bench();
    const all = ['a', 'b', 'c'].map((name) => wait(name));

    waiters.wakeOne();
    await all[0];
    expect(gone).toEqual(['a']);
    waiters.wakeOne();
    waiters.wakeOne();
    await Promise.all(all);

    expect(gone).toEqual(['a', 'b', 'c']);
  });

  it('wakes those of the lowest rank first, and says whether there was anybody', async () => {
    const { clock, waiters, gone } = bench();
    const all = [3, 1, 2, 1].map(async (rank, index) => {
      await waiters.wait(100, clock, { rank, isQuery: false });
      gone.push(`${index}`);
    });

    const isAnybody = [...all, undefined].map(() => waiters.wakeOne());
    await Promise.all(all);

    expect(isAnybody).toEqual([true, true, true, true, false]);
    expect(gone).toEqual(['1', '3', '2', '0']);
  });

  it('passes over those whose time was up', async () => {
    const { clock, waiters, gone, wait } = bench();
    const all = [wait('a', 10), wait('b')];
    clock.advance(10);

    waiters.wakeOne();
    await Promise.all(all);

    expect(gone).toEqual(['a in vain', 'b']);
  });

  it('wakes all, and leaves none of their timers', async () => {
    const { clock, waiters, gone, wait } = bench();
    const all = ['a', 'b'].map((name) => wait(name));

    waiters.wakeAll();
    await Promise.all(all);

    expect(gone).toEqual(['a', 'b']);
    expect(clock.pending).toBe(0);
  });

  it('keeps for later those who wait again as they are woken', async () => {
    const { clock, waiters, gone, wait } = bench();
    const all = wait('a').then(() => wait('a again'));

    waiters.wakeAll();
    waiters.wakeAll();
    await turn();
    clock.advance(100);
    await all;

    expect(gone).toEqual(['a', 'a again in vain']);
  });

  it('takes a time that is over for none', async () => {
    const { clock, gone, wait } = bench();
    const waiting = wait('a', -5);

    clock.advance(0);
    await waiting;

    expect(gone).toEqual(['a in vain']);
  });

  it('wakes nobody where nobody waits', () => {
    const { waiters } = bench();

    expect(() => waiters.wakeOne()).not.toThrow();
    expect(() => waiters.wakeAll()).not.toThrow();
  });

  it('holds ten thousand as easily as one', async () => {
    const { waiters } = bench();
    const clock = { now: () => 0, after: () => () => undefined, holdFor: () => () => undefined };
    const all = Array.from({ length: 10_000 }, () => waiters.wait(100, clock));

    for (const _ of all) waiters.wakeOne();

    expect(new Set(await Promise.all(all))).toEqual(new Set([true]));
  });
});

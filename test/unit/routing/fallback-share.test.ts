import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Host } from '../../../lib/hosts/host.ts';
import { FallbackShare, NeedlessWait } from '../../../lib/routing/fallback-share.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hostSettings, makeHost } from '../../support/hosts.ts';

function primary(max: number): Host {
  return makeHost(hostSettings('primary'), 'primary', { max });
}

describe('FallbackShare', () => {
  it.each([
    [10, 0.5, 5],
    [10, 1, 10],
    [3, 0.5, 1],
    [1, 0.1, 1],
  ])('of a pool of %d, %d, lets in %d', async (max, share, expected) => {
    const clock = new FakeClock();
    const fallback = new FallbackShare(share, clock);
    const host = primary(max);

    const entered = Promise.all(Array.from({ length: max }, () => fallback.enter(host, 100)));
    await turn();
    clock.advance(100);

    expect((await entered).filter(Boolean)).toHaveLength(expected);
  });

  it('lets the one that waited longest in when a place becomes free', async () => {
    const fallback = new FallbackShare(0.5, new FakeClock());
    const host = primary(2);
    const order: string[] = [];
    await fallback.enter(host, 100);
    const enter = async (name: string): Promise<void> => {
      if (await fallback.enter(host, 100)) order.push(name);
    };
    const first = enter('first');
    const second = enter('second');

    fallback.leave();
    await first;
    fallback.leave();
    await second;

    expect(order).toEqual(['first', 'second']);
  });

  it('dismisses those who wait, and no others', async () => {
    const fallback = new FallbackShare(0.5, new FakeClock());
    const host = primary(2);
    await fallback.enter(host, 100);
    const waiting = fallback.enter(host, 100);

    fallback.dismiss();

    await expect(waiting).rejects.toBeInstanceOf(NeedlessWait);
    const later = fallback.enter(host, 100);
    fallback.leave();
    expect(await later).toBe(true);
  });

  it('gives up after its time, and leaves no trace in the queue', async () => {
    const clock = new FakeClock();
    const fallback = new FallbackShare(0.5, clock);
    const host = primary(2);
    await fallback.enter(host, 100);

    const late = fallback.enter(host, 100);
    await turn();
    clock.advance(100);

    expect(await late).toBe(false);
    fallback.leave();
    expect(await fallback.enter(host, 100)).toBe(true);
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Changes } from '../../../lib/hosts/changes.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('Changes', () => {
  it('wakes all who wait', async () => {
    const changes = new Changes(new FakeClock());
    const waiting = [changes.after(0, 100), changes.after(0, 100)];

    changes.note();

    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(changes.count).toBe(1);
  });

  it('lets nobody wait for what has changed since they looked', async () => {
    const clock = new FakeClock();
    const changes = new Changes(clock);
    const { count } = changes;

    changes.note();

    expect(await changes.after(count, 100)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('lets nobody wait for longer than they may', async () => {
    const clock = new FakeClock();
    const changes = new Changes(clock);
    const waiting = changes.after(0, 100);

    clock.advance(100);

    expect(await waiting).toBe(false);
  });

  it('leaves no timer of those whom it woke', async () => {
    const clock = new FakeClock();
    const changes = new Changes(clock);
    const waiting = changes.after(0, 100);

    changes.note();
    await waiting;

    expect(clock.pending).toBe(0);
  });

  it('takes a time that is over for none', async () => {
    const clock = new FakeClock();
    const waiting = new Changes(clock).after(0, -5);

    clock.advance(0);

    expect(await waiting).toBe(false);
  });

  it('lets nobody wait once there will be no more', async () => {
    const clock = new FakeClock();
    const changes = new Changes(clock);
    const waiting = changes.after(0, 100);

    changes.end();

    expect(await waiting).toBe(false);
    expect(await changes.after(0, 100)).toBe(false);
    changes.note();
    expect(await changes.after(0, 100)).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('tells those who follow of each change', () => {
    const changes = new Changes(new FakeClock());
    const counts: number[] = [];
    changes.follow(() => counts.push(changes.count));

    changes.note();
    changes.note();

    expect(counts).toEqual([1, 2]);
  });

  it('waits a second more in a process that was held up, which has yet to hear', async () => {
    const clock = new FakeClock();
    const changes = new Changes(clock);
    const waiting = [changes.after(0, 100), changes.after(0, 100)];

    clock.stall(5000);
    await turn();
    expect(clock.pending).toBe(2);
    changes.note();

    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(clock.pending).toBe(0);
  });

  it('waits no longer than that in a process that was held up', async () => {
    const clock = new FakeClock();
    const changes = new Changes(clock);
    const waiting = changes.after(0, 100);
    clock.stall(5000);
    await turn();

    clock.advance(999);
    expect(clock.pending).toBe(1);
    clock.advance(1);

    expect(await waiting).toBe(false);
  });

  it('gives no time more where the timer is a little late', async () => {
    const clock = new FakeClock();
    const waiting = new Changes(clock).after(0, 100);

    clock.stall(1100);

    expect(await waiting).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('lets nobody wait on in a process that was held up once there will be no more', async () => {
    const clock = new FakeClock();
    const changes = new Changes(clock);
    const waiting = changes.after(0, 100);
    clock.stall(5000);
    await turn();

    changes.end();

    expect(await waiting).toBe(false);
    expect(clock.pending).toBe(0);
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Clock } from '../../../lib/clock.ts';
import { ConnectGate } from '../../../lib/hosts/connect-gate.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const tooMany = new Error('sorry, too many clients already');

/** Opens that end when they are told to. */
function openings(gate: ConnectGate): {
  readonly start: (count: number) => void;
  readonly running: (() => void)[];
} {
  const running: (() => void)[] = [];
  const start = (count: number): void => {
    for (let i = 0; i < count; i++) {
      void gate.pass(() => new Promise<void>((resolve) => running.push(resolve)));
    }
  };
  return { start, running };
}

describe('ConnectGate', () => {
  it('lets any number of connections open', () => {
    const { start, running } = openings(new ConnectGate(new FakeClock()));

    start(9);

    expect(running).toHaveLength(9);
  });

  it('lets two open at a time while its host recovers, and the others in turn', async () => {
    const gate = new ConnectGate(new FakeClock());
    gate.beCareful(() => true);
    const { start, running } = openings(gate);

    start(4);
    expect(running).toHaveLength(2);
    expect(gate.isOpen).toBe(false);
    running.shift()?.();
    await turn();

    expect(running).toHaveLength(2);
  });

  it('lets the next one open after one that failed', async () => {
    const gate = new ConnectGate(new FakeClock());
    gate.beCareful(() => true);
    const refuse = (): Promise<never> => Promise.reject(new Error('refused'));

    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => gate.pass(refuse)));

    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(gate.isOpen).toBe(true);
  });

  it('ceases to be careful when its host has recovered', async () => {
    const gate = new ConnectGate(new FakeClock());
    let isRecovering = true;
    gate.beCareful(() => isRecovering);
    const { start, running } = openings(gate);
    start(5);

    isRecovering = false;
    running.shift()?.();
    await turn();

    expect(running).toHaveLength(4);
  });

  it('opens nothing for a second after its server had no connection left', async () => {
    const clock = new FakeClock();
    const gate = new ConnectGate(clock);
    const { start, running } = openings(gate);

    gate.rest(tooMany);
    start(2);
    clock.advance(999);
    await turn();
    expect(running).toHaveLength(0);
    clock.advance(1);
    await turn();

    expect(running).toHaveLength(2);
  });

  it('rests a second from the last time on', async () => {
    const clock = new FakeClock();
    const gate = new ConnectGate(clock);
    const { start, running } = openings(gate);

    gate.rest(tooMany);
    clock.advance(600);
    gate.rest(tooMany);
    start(1);
    clock.advance(600);
    await turn();
    expect(running).toHaveLength(0);
    clock.advance(400);
    await turn();

    expect(running).toHaveLength(1);
  });

  it('forgets nobody when a timer fires a little early, as those of Node may', async () => {
    const clock = new FakeClock();
    const early: Clock = {
      now: () => clock.now(),
      after: (millis, callback) => clock.after(millis - 0.5, callback),
      holdFor: (millis, callback) => clock.holdFor(millis, callback),
    };
    const gate = new ConnectGate(early);
    const { start, running } = openings(gate);

    gate.rest(tooMany);
    start(1);
    clock.advance(999.6);
    await turn();

    expect(running).toHaveLength(1);
  });

  it('lets everyone through once it is released', async () => {
    const gate = new ConnectGate(new FakeClock());
    gate.beCareful(() => true);
    gate.rest(tooMany);
    const { start, running } = openings(gate);
    start(3);

    gate.release();
    await turn();

    expect(running).toHaveLength(3);
  });

  it('tells what its server refused with for as long as it rests, and then no more', () => {
    const clock = new FakeClock();
    const gate = new ConnectGate(clock);
    const later = new Error('remaining connection slots are reserved');
    expect(gate.refusal).toBeUndefined();

    gate.rest(tooMany);
    clock.advance(999);
    expect(gate.refusal).toBe(tooMany);
    gate.rest(later);
    clock.advance(999);
    expect(gate.refusal).toBe(later);
    clock.advance(1);

    expect(gate.refusal).toBeUndefined();
  });

  it('tells of no refusal once it is released', () => {
    const gate = new ConnectGate(new FakeClock());
    gate.rest(tooMany);

    gate.release();

    expect(gate.refusal).toBeUndefined();
    expect(gate.isOpen).toBe(true);
  });
});

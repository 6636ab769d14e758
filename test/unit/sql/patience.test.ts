import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/clock.ts';
import { Patience } from '../../../lib/sql/patience.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const limits = { sendMillis: 2000, answerMillis: 200, longestMillis: 1000 };

function setUp(): { readonly patience: Patience; readonly pass: (millis: number) => void } {
  const clock = new FakeClock();
  return { patience: new Patience(clock, limits), pass: (millis) => clock.advance(millis) };
}

const never = (onSent: () => void): Promise<string> => {
  onSent();
  return new Promise(() => undefined);
};
const yes = async (): Promise<string> => 'yes';

describe('Patience', () => {
  it('gives an answer that comes in time', async () => {
    expect(await setUp().patience.wait(yes)).toBe('yes');
  });

  it('gives nothing where the answer is late, and asks nothing for a second', async () => {
    const { patience, pass } = setUp();

    const waiting = patience.wait(never);
    pass(200);

    expect(await waiting).toBeUndefined();
    pass(999);
    expect(await patience.wait(yes)).toBeUndefined();
    pass(1);
    expect(await patience.wait(yes)).toBe('yes');
  });

  it('waits longer for the question to be sent than for its answer', async () => {
    const { patience, pass } = setUp();
    const sent: { tell?: () => void } = {};
    let isOver = false;

    const waiting = patience
      .wait((onSent) => new Promise<string>(() => (sent.tell = onSent)))
      .finally(() => (isOver = true));
    pass(1999);
    await turn();
    expect(isOver).toBe(false);
    sent.tell?.();
    pass(199);
    await turn();
    expect(isOver).toBe(false);
    pass(1);

    expect(await waiting).toBeUndefined();
  });

  it('sets no timer for a question that is sent when nobody waits any more', async () => {
    const { patience, pass } = setUp();
    const sent: { tell?: () => void } = {};
    const waiting = patience.wait((onSent) => new Promise<string>(() => (sent.tell = onSent)));
    pass(2000);
    await waiting;
    pass(1000);

    sent.tell?.();
    pass(200);

    expect(await patience.wait(yes)).toBe('yes');
  });

  it('lets an answer in that a stalled process has not read yet', async () => {
    const patience = new Patience(systemClock, { ...limits, sendMillis: 5, answerMillis: 5 });
    // From here, timers are looked at before the answer is.
    await turn();

    const waiting = patience.wait(() => turn('yes'));
    const stalledUntil = Date.now() + 20;
    while (Date.now() < stalledUntil);

    expect(await waiting).toBe('yes');
  });

  it('asks again at once when a late answer has come after all', async () => {
    const { patience, pass } = setUp();
    const late: { settle?: (answer: string) => void } = {};

    const waiting = patience.wait(() => new Promise<string>((settle) => (late.settle = settle)));
    pass(2000);
    await waiting;
    late.settle?.('yes');
    await turn();

    expect(await patience.wait(yes)).toBe('yes');
  });

  it('waits on, in its turns, while nothing can be done without the answer', async () => {
    const { patience, pass } = setUp();
    let isNeeded = true;
    let isOver = false;

    const waiting = patience.wait(never, () => isNeeded).finally(() => (isOver = true));
    pass(200);
    pass(200);
    await turn();
    expect(isOver).toBe(false);
    isNeeded = false;
    pass(200);

    expect(await waiting).toBeUndefined();
  });

  it('waits no longer than its longest time, and asks for such an answer at any time', async () => {
    const { patience, pass } = setUp();
    const needed = (): boolean => true;

    const waiting = patience.wait(never, needed);
    for (let turns = 0; turns < 5; turns++) pass(200);

    expect(await waiting).toBeUndefined();
    expect(await patience.wait(yes)).toBeUndefined();
    expect(await patience.wait(yes, needed)).toBe('yes');
  });

  it('gives nothing where asking fails, at once or later', async () => {
    const { patience, pass } = setUp();

    expect(await patience.wait(() => Promise.reject(new Error('down')))).toBeUndefined();
    pass(1000);
    expect(
      await patience.wait(() => {
        throw new Error('down');
      }),
    ).toBeUndefined();
  });
});

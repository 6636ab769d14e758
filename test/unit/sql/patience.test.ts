import { describe, expect, it } from '@jest/globals';
import { Patience } from '../../../lib/sql/patience.ts';

function setUp(): { readonly patience: Patience; readonly pass: (millis: number) => void } {
  const timers = new Map<() => void, number>();
  let now = 0;
  const patience = new Patience(
    {
      now: () => now,
      after: (millis, callback) => {
        timers.set(callback, now + millis);
        return () => void timers.delete(callback);
      },
    },
    200,
  );
  const pass = (millis: number): void => {
    now += millis;
    for (const [callback, at] of timers) if (at <= now) callback();
  };
  return { patience, pass };
}

const never = (): Promise<string> => new Promise(() => {});
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

  it('asks again at once when a late answer has come after all', async () => {
    const { patience, pass } = setUp();
    const late: { settle?: (answer: string) => void } = {};

    const waiting = patience.wait(() => new Promise<string>((settle) => (late.settle = settle)));
    pass(200);
    await waiting;
    late.settle?.('yes');
    await new Promise(setImmediate);

    expect(await patience.wait(yes)).toBe('yes');
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

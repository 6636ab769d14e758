import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { withinTime } from '../../../lib/monitor/within-time.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface Sketch {
  readonly clock: FakeClock;
  readonly ending: AbortController;
  readonly answer: (value: string) => void;
  readonly fail: (error: Error) => void;
  readonly found: Promise<string | undefined>;
  /** What came of it by now. */
  readonly outcome: () => Promise<unknown>;
}

function start(): Sketch {
  const clock = new FakeClock();
  const ending = new AbortController();
  let answer: Sketch['answer'] = () => undefined;
  let fail: Sketch['fail'] = () => undefined;
  const work = new Promise<string>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  const found = withinTime(work, 1000, clock, ending.signal);
  const outcome = async (): Promise<unknown> => {
    await turn();
    return Promise.race([found.then((value) => value ?? 'given up'), turn('waiting')]);
  };
  return { clock, ending, answer, fail, found, outcome };
}

describe('withinTime', () => {
  it('answers with what comes in time', async () => {
    const { clock, answer, outcome } = start();

    clock.advance(999);
    answer('done');

    expect(await outcome()).toBe('done');
  });

  it('rejects with what the work fails with', async () => {
    const { fail, found } = start();

    fail(new Error('refused'));

    await expect(found).rejects.toThrow('refused');
  });

  it('gives up when the time is over', async () => {
    const { clock, outcome } = start();

    clock.advance(1000);

    expect(await outcome()).toBe('given up');
  });

  it('counts an answer that is read in the turn in which the time is over', async () => {
    const { clock, answer, outcome } = start();

    clock.advance(1000);
    answer('just so');

    expect(await outcome()).toBe('just so');
  });

  it('does not count the time in which the process stood still', async () => {
    const { clock, answer, outcome } = start();

    clock.advance(300);
    clock.stall(60_000);
    const late = await outcome();
    clock.advance(700);
    const waiting = await outcome();
    answer('done');

    expect([late, waiting, await outcome()]).toEqual(['waiting', 'waiting', 'done']);
  });

  it('does not count a standstill that ends when the time is over', async () => {
    const { clock, outcome } = start();

    clock.stall(1000);

    expect(await outcome()).toBe('waiting');
  });

  it('gives up after its time when the process has stood still before', async () => {
    const { clock, outcome } = start();

    clock.stall(60_000);
    clock.advance(999);
    const waiting = await outcome();
    clock.advance(1);

    expect([waiting, await outcome()]).toEqual(['waiting', 'given up']);
  });

  it('gives up at last in a process that is always late', async () => {
    const { clock, outcome } = start();

    for (let times = 0; times < 10; times++) clock.stall(2000);

    expect(await outcome()).toBe('given up');
  });

  it('gives up at once when it is told to, and not later', async () => {
    const { clock, ending, found, outcome } = start();

    ending.abort();

    await expect(found).resolves.toBeUndefined();
    clock.advance(1000);
    expect(await outcome()).toBe('given up');
  });

  it('waits for nothing where it was told to give up before', async () => {
    const clock = new FakeClock();
    const work = Promise.reject(new Error('nobody asks'));

    const found = withinTime(work, 1000, clock, AbortSignal.abort());

    await expect(found).resolves.toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});

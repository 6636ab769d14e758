import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import type { DialProbe, ProbeClient } from '../../../lib/monitor/probe.ts';
import { Probe } from '../../../lib/monitor/probe.ts';
import type { ProbeAnswer } from '../../support/fake-probe-client.ts';
import { FakeProbeClient, serverError } from '../../support/fake-probe-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface Sketch {
  readonly probe: Probe;
  readonly clock: FakeClock;
  /** What was dialled, in order. */
  readonly clients: FakeProbeClient[];
  readonly onLost: jest.Mock<() => void>;
}

type Dialled = ProbeAnswer | Error | 'hang';

/** A probe whose dials are answered one by one, the last answer for all that follow. */
function probeOf(...answers: readonly Dialled[]): Sketch {
  return sketchOf(answers, {});
}

/** As {@link probeOf}, by settings that a function of the application gives. */
function preparedBy(prepare: () => Promise<void>, answer: Dialled, prepareMillis?: number): Sketch {
  return sketchOf([answer], { prepare, prepareMillis });
}

function sketchOf(
  answers: readonly Dialled[],
  settings: Pick<DialProbe, 'prepare' | 'prepareMillis'>,
): Sketch {
  const clock = new FakeClock();
  const clients: FakeProbeClient[] = [];
  const onLost = jest.fn<() => void>();
  const dial = async (onClient: (client: ProbeClient) => void): Promise<ProbeClient> => {
    const answer = answers[clients.length] ?? answers.at(-1) ?? up;
    const client = new FakeProbeClient(typeof answer === 'function' ? answer : up);
    clients.push(client);
    onClient(client);
    if (answer === 'hang') await never();
    if (answer instanceof Error) throw answer;
    return client;
  };
  const probe = new Probe(Object.assign(dial, settings), clock, onLost);
  return { probe, clock, clients, onLost };
}

const up: ProbeAnswer = () => ({ rows: [{ isInRecovery: 'f', processId: '7' }] });

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Answers some times, and then as something else. */
function after(times: number, then: ProbeAnswer): ProbeAnswer {
  let count = 0;
  return (text) => (count++ < times ? up(text) : then(text));
}

function refuse(error: Error): ProbeAnswer {
  return () => {
    throw error;
  };
}

const good = { isGood: true, report: { isInRecovery: false, hasTrueProcessIds: true } };

describe('Probe', () => {
  it('dials once, and keeps the connection', async () => {
    const { probe, clients } = probeOf(up);

    const outcomes = [await probe.run(1000), await probe.run(1000)];

    expect(outcomes).toMatchObject([
      { ...good, isNewConnection: true },
      { ...good, isNewConnection: false },
    ]);
    expect(clients).toHaveLength(1);
  });

  it('runs once for all who ask at the same time', async () => {
    const { probe, clients } = probeOf(up);

    const [first, second] = await Promise.all([probe.run(1000), probe.run(1000)]);

    expect(second).toBe(first);
    expect(clients[0]?.texts).toHaveLength(1);
  });

  it('fails with what the dial fails with, and dials the next time', async () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const { probe } = probeOf(refused, up);

    const outcomes = [await probe.run(1000), await probe.run(1000)];

    expect(outcomes).toMatchObject([{ isGood: false, error: refused, isTimeout: false }, good]);
  });

  it.each([
    ['the dial', 'hang'],
    ['the server', never],
  ] as const)('gives up when its time is over while %s hangs', async (_, answer) => {
    const { probe, clock, clients } = probeOf(answer, up);

    const running = probe.run(1000);
    await turn();
    clock.advance(1000);

    expect(await running).toMatchObject({
      isGood: false,
      isTimeout: true,
      error: { message: 'The probe had no answer within 1000 ms.' },
    });
    expect(clients[0]?.done).toContain('destroy socket');
    expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: true });
  });

  it('says nothing against a server when the process itself was late', async () => {
    let answer = (): void => undefined;
    const { probe, clock } = probeOf(
      (text) =>
        new Promise((resolve) => {
          answer = () => resolve(up(text));
        }),
    );

    const running = probe.run(1000);
    await turn();
    clock.stall(60_000);
    await turn();
    answer();

    expect(await running).toMatchObject(good);
  });

  it('counts an answer that has come when its time is over', async () => {
    let answer = (): void => undefined;
    const { probe, clock } = probeOf(
      (text) =>
        new Promise((resolve) => {
          answer = () => resolve(up(text));
        }),
    );

    const running = probe.run(1000);
    await turn();
    clock.advance(1000);
    answer();

    expect(await running).toMatchObject(good);
  });

  it.each([
    ['lost', new Error('Connection terminated unexpectedly')],
    ['ended by the server', serverError('57P01', 'FATAL')],
  ])('tries a new connection when the kept one turns out to be %s', async (_, error) => {
    const { probe, clients } = probeOf(after(1, refuse(error)), up);
    await probe.run(1000);

    expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: true });
    expect(clients[0]?.done).toContain('end');
  });

  it('does not try a third connection', async () => {
    const error = new Error('Connection terminated unexpectedly');
    const { probe, clients } = probeOf(after(1, refuse(error)), refuse(error));
    await probe.run(1000);

    expect(await probe.run(1000)).toMatchObject({ isGood: false, error });
    expect(clients).toHaveLength(2);
  });

  it('dials no more when its time was over on the kept connection', async () => {
    let fail = (): void => undefined;
    const hanging: ProbeAnswer = () =>
      new Promise((_, reject) => {
        fail = () => reject(new Error('Connection terminated unexpectedly'));
      });
    const { probe, clock, clients } = probeOf(after(1, hanging));
    await probe.run(1000);

    const running = probe.run(1000);
    await turn();
    clock.advance(1000);
    await running;
    fail();
    await turn();

    expect(clients).toHaveLength(1);
  });

  it('tells when its connection is lost between probes, and dials the next time', async () => {
    const { probe, clients, onLost } = probeOf(up);
    await probe.run(1000);

    clients[0]?.emit('error', serverError('57P01', 'FATAL'));

    expect(onLost).toHaveBeenCalledTimes(1);
    expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: true });
  });

  it('learns anew on a new connection what the server supports', async () => {
    const old: ProbeAnswer = (text) => {
      if (/pg_control_/.test(text)) throw serverError('42883');
      return up(text);
    };
    const { probe, clients } = probeOf(old, up);
    await probe.run(1000);

    clients[0]?.emit('end');
    await probe.run(1000);

    expect(clients[1]?.texts).toEqual([expect.stringContaining('pg_control_system')]);
  });

  describe('renew', () => {
    it('dials beside the kept connection, and then changes over', async () => {
      const { probe, clients } = probeOf(up);
      await probe.run(1000);

      const renewing = probe.renew(1000);
      expect(clients[0]?.done).not.toContain('end');
      expect(await renewing).toBe(true);

      expect(clients[0]?.done).toContain('end');
      expect([await probe.run(1000), await probe.run(1000)]).toMatchObject([
        { ...good, isNewConnection: true },
        { ...good, isNewConnection: false },
      ]);
      expect(clients).toHaveLength(2);
    });

    it('does not disturb the probe that is running', async () => {
      const { probe, clients } = probeOf(up);
      await probe.run(1000);

      const running = probe.run(1000);
      const renewed = await probe.renew(1000);

      expect(await running).toMatchObject({ ...good, isNewConnection: false });
      expect(renewed).toBe(true);
      expect(clients[0]?.texts).toHaveLength(2);
    });

    it('does not disturb one that begins as another ends, nor loses a connection by it', async () => {
      const { probe, clients } = probeOf(up);
      await probe.run(1000);

      const renewing = probe.renew(1000);
      const outcomes = [await probe.run(1000), await probe.run(1000), await probe.run(1000)];
      await renewing;
      probe.destroy();

      expect(outcomes).toMatchObject([good, good, good]);
      expect(clients).toHaveLength(2);
      expect(clients.map(({ done }) => done.includes('end'))).toEqual([true, true]);
    });

    it.each([
      ['is refused', new Error('connect ECONNREFUSED')],
      ['hangs', 'hang'],
    ] as const)('keeps the connection that is open where the dial %s', async (_, answer) => {
      const { probe, clock, clients, onLost } = probeOf(up, answer);
      await probe.run(1000);

      const renewing = probe.renew(1000);
      await turn();
      clock.advance(1000);

      expect(await renewing).toBe(false);
      expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: false });
      expect(clients[1]?.done).toContain('destroy socket');
      expect(onLost).not.toHaveBeenCalled();
      expect(clock.pending).toBe(0);
    });

    it('keeps the connection that is open where the other is lost as it opens', async () => {
      const { probe, clients } = probeOf(up);
      await probe.run(1000);

      const renewing = probe.renew(1000);
      await Promise.resolve();
      clients[1]?.emit('end');

      expect(await renewing).toBe(false);
      expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: false });
    });

    it('leaves it to the next probe to dial where no connection is open', async () => {
      const { probe, clients } = probeOf(up);

      expect(await probe.renew(1000)).toBe(false);

      expect(clients).toEqual([]);
    });

    it('dials once for all who ask at the same time', async () => {
      const { probe, clients } = probeOf(up);
      await probe.run(1000);

      expect(await Promise.all([probe.renew(1000), probe.renew(1000)])).toEqual([true, true]);

      expect(clients).toHaveLength(2);
    });
  });

  describe('with a function that gives the settings', () => {
    it('asks it before each dial, and for no probe on an open connection', async () => {
      const prepare = jest.fn(() => Promise.resolve());
      const { probe, clients } = preparedBy(prepare, up);

      await probe.run(1000);
      await probe.run(1000);
      expect(prepare).toHaveBeenCalledTimes(1);
      await probe.renew(1000);

      expect(prepare).toHaveBeenCalledTimes(2);
      expect(clients).toHaveLength(2);
    });

    it("does not count its time as the host's", async () => {
      let answer = (): void => undefined;
      const { probe, clock } = preparedBy(
        () => new Promise<void>((resolve) => (answer = resolve)),
        up,
      );

      const running = probe.run(1000);
      await turn();
      clock.advance(4900);
      await turn();
      answer();

      expect(await running).toMatchObject(good);
    });

    it('blames the application, and not the host, where it throws', async () => {
      const sealed = new Error('the vault is sealed');
      const { probe, clients } = preparedBy(() => Promise.reject(sealed), up);

      expect(await probe.run(1000)).toMatchObject({
        isGood: false,
        error: sealed,
        isTimeout: false,
        isOfApplication: true,
      });
      expect(clients).toEqual([]);
    });

    it.each([
      ['for five seconds', undefined, 5000],
      ['no longer than a connection of the pool would', 300, 300],
    ])('waits for it %s', async (_, prepareMillis, millis) => {
      const { probe, clock, clients } = preparedBy(never, up, prepareMillis);

      const running = probe.run(1000);
      await turn();
      clock.advance(millis);

      expect(await running).toMatchObject({
        isOfApplication: true,
        isTimeout: false,
        error: { message: `The connection function did not answer within ${millis} ms.` },
      });
      expect(clients).toEqual([]);
    });

    it('blames the host for what the dial itself fails with', async () => {
      const { probe } = preparedBy(() => Promise.resolve(), new Error('connect ECONNREFUSED'));

      expect(await probe.run(1000)).toMatchObject({ isGood: false, isOfApplication: false });
    });

    it('keeps the open connection where it fails for another', async () => {
      let isSealed = false;
      const { probe, clients } = preparedBy(async () => {
        if (isSealed) throw new Error('the vault is sealed');
      }, up);
      await probe.run(1000);
      isSealed = true;

      expect(await probe.renew(1000)).toBe(false);

      expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: false });
      expect(clients).toHaveLength(1);
    });
  });

  describe('ask', () => {
    it('has no answer without a connection', async () => {
      const { probe, clients } = probeOf(up);

      expect(await probe.ask('select 1', [], 1000)).toBeUndefined();
      expect(clients).toEqual([]);
    });

    it('answers with rows, after the probe that is running', async () => {
      const { probe, clients } = probeOf((text) =>
        text === 'select me' ? { rows: [{ me: 1 }] } : up(text),
      );

      void probe.run(1000);
      const rows = await probe.ask<{ me: number }>('select me', [], 1000);

      expect(rows).toEqual([{ me: 1 }]);
      expect(clients[0]?.texts).toEqual([expect.stringMatching(/^\/\*/), 'select me']);
    });

    it('has no answer where the server has an error, and keeps the connection', async () => {
      const { probe } = probeOf((text) => {
        if (text === 'select me') throw serverError('42501');
        return up(text);
      });
      await probe.run(1000);

      expect(await probe.ask('select me', [], 1000)).toBeUndefined();
      expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: false });
    });

    it('ends the connection that does not answer in time', async () => {
      const { probe, clock, clients } = probeOf(after(1, never), up);
      await probe.run(1000);

      const asking = probe.ask('select me', [], 100);
      await turn();
      clock.advance(100);

      expect(await asking).toBeUndefined();
      expect(clients[0]?.done).toContain('destroy socket');
      expect(await probe.run(1000)).toMatchObject({ ...good, isNewConnection: true });
    });

    it('does not end the connection of a probe that it waited for in vain', async () => {
      let answer = (): void => undefined;
      const { probe, clock } = probeOf(
        (text) =>
          new Promise((resolve) => {
            answer = () => resolve(up(text));
          }),
      );

      const running = probe.run(1000);
      const asking = probe.ask('select me', [], 100);
      await turn();
      clock.advance(100);
      const rows = await asking;
      answer();

      expect(rows).toBeUndefined();
      expect(await running).toMatchObject(good);
    });
  });

  describe('destroy', () => {
    it.each([
      ['dials', 'hang'],
      ['waits for an answer', never],
    ] as const)('ends a probe that %s, at once', async (_, answer) => {
      const { probe, clients } = probeOf(answer);

      const running = probe.run(1000);
      await turn();
      probe.destroy();

      expect(await running).toMatchObject({ isGood: false, isTimeout: false });
      expect(clients[0]?.done).toContain('destroy socket');
    });

    it('takes leave of an idle connection, tells nobody, and can be repeated', async () => {
      const { probe, clients, onLost } = probeOf(up);
      await probe.run(1000);

      probe.destroy();
      probe.destroy();
      clients[0]?.emit('end');

      expect(clients[0]?.done).toContain('end');
      expect(onLost).not.toHaveBeenCalled();
    });

    it('opens nothing afterwards, and asks for no settings', async () => {
      const prepare = jest.fn(() => Promise.resolve());
      const { probe, clients } = preparedBy(prepare, up);

      probe.destroy();
      const outcome = await probe.run(1000);
      const rows = await probe.ask('select me', [], 1000);

      expect(outcome).toMatchObject({ isGood: false, error: { message: expect.any(String) } });
      expect(rows).toBeUndefined();
      expect(clients).toEqual([]);
      expect(prepare).not.toHaveBeenCalled();
    });

    const run = (probe: Probe): Promise<unknown> => probe.run(1000);
    const renew = (probe: Probe): Promise<unknown> => probe.renew(1000);
    const ask = (probe: Probe): Promise<unknown> => probe.ask('select me', [], 1000);
    const both = (probe: Probe): Promise<unknown> => Promise.all([run(probe), renew(probe)]);
    const known = (): Promise<void> => Promise.resolve();
    let isKnown = false;
    const knownOnce = (): Promise<void> => {
      if (isKnown) return never();
      isKnown = true;
      return Promise.resolve();
    };

    it.each<[string, Sketch, (probe: Probe) => Promise<unknown>, 'at once' | 'open']>([
      ['dials', probeOf('hang'), run, 'at once'],
      ['asks for the settings', preparedBy(never, up), run, 'at once'],
      ['waits for the first answer', probeOf(never), run, 'at once'],
      ['waits for an answer', probeOf(after(1, never)), run, 'open'],
      ['dials anew', probeOf(up, 'hang'), renew, 'open'],
      ['has dialled anew', probeOf(up), renew, 'open'],
      ['asks for the settings anew', preparedBy(knownOnce, up), renew, 'open'],
      ['dials anew beside a probe', probeOf(after(1, never), 'hang'), both, 'open'],
      ['has dialled anew beside a probe', probeOf(after(1, never), up), both, 'open'],
      ['asks something else', probeOf(after(1, never)), ask, 'open'],
    ])('leaves nothing of a probe that %s', async (_, sketch, act, start) => {
      const { probe, clock, clients, onLost } = sketch;
      if (start === 'open') await probe.run(1000);
      const ending = act(probe);
      await turn();

      probe.destroy();
      await ending;
      await turn();

      expect(clock.pending).toBe(0);
      for (const { done } of clients) expect(done.join()).toMatch(/end|destroy/);
      expect(onLost).not.toHaveBeenCalled();
    });

    it.each([
      ['a first probe', probeOf(up), run, 'at once'],
      ['a probe', probeOf(up), run, 'open'],
      ['a renewal', probeOf(up), renew, 'open'],
      ['a first probe with a function', preparedBy(known, up), run, 'at once'],
      ['a renewal with a function', preparedBy(known, up), renew, 'open'],
    ] as const)('lets %s that was just asked for dial no more', async (_, sketch, act, start) => {
      const { probe, clock, clients } = sketch;
      if (start === 'open') await probe.run(1000);
      const before = clients.length;

      const ending = act(probe);
      probe.destroy();
      await ending;

      expect(clients).toHaveLength(before);
      expect(clock.pending).toBe(0);
    });
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
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

/** A probe whose dials are answered one by one, the last answer for all that follow. */
function probeOf(...answers: readonly (ProbeAnswer | Error | 'hang')[]): Sketch {
  const clock = new FakeClock();
  const clients: FakeProbeClient[] = [];
  const onLost = jest.fn<() => void>();
  const probe = new Probe(
    async (onClient) => {
      const answer = answers[clients.length] ?? answers.at(-1) ?? up;
      const client = new FakeProbeClient(typeof answer === 'function' ? answer : up);
      clients.push(client);
      onClient(client);
      if (answer === 'hang') await never();
      if (answer instanceof Error) throw answer;
      return client;
    },
    clock,
    onLost,
  );
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

  it('dials anew after a hang-up, and does not disturb the probe that is running', async () => {
    const { probe, clients } = probeOf(up);
    await probe.run(1000);

    const running = probe.run(1000);
    probe.hangUp();
    const outcomes = [await running, await probe.run(1000), await probe.run(1000)];

    expect(outcomes).toMatchObject([
      { isNewConnection: false },
      { isNewConnection: true },
      { isNewConnection: false },
    ]);
    expect(clients[0]?.done).toContain('end');
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

    it('opens nothing afterwards', async () => {
      const { probe, clients } = probeOf(up);

      probe.destroy();
      const outcome = await probe.run(1000);
      const rows = await probe.ask('select me', [], 1000);

      expect(outcome).toMatchObject({ isGood: false, error: { message: expect.any(String) } });
      expect(rows).toBeUndefined();
      expect(clients).toEqual([]);
    });

    it('leaves no timer', async () => {
      const { probe, clock } = probeOf('hang');
      const cancelled = jest.fn();
      const set = clock.after.bind(clock);
      jest.spyOn(clock, 'after').mockImplementation((millis, callback) => {
        const cancel = set(millis, callback);
        return () => {
          cancelled();
          cancel();
        };
      });

      const running = probe.run(1000);
      probe.destroy();
      await running;

      expect(cancelled).toHaveBeenCalledTimes(1);
    });
  });
});

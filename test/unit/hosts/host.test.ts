import { describe, expect, it } from '@jest/globals';
import { listenToServer, serverFacts } from '../../../lib/hosts/server-facts.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import type { HostSketch } from '../../support/hosts.ts';
import { hostSettings, makeHost, reportOf } from '../../support/hosts.ts';
import type { Host } from '../../../lib/hosts/host.ts';

function bench(sketch: HostSketch = {}): { readonly host: Host; readonly clock: FakeClock } {
  const clock = new FakeClock();
  return { clock, host: makeHost(hostSettings('a', sketch), 'replica', sketch, clock) };
}

/** A connection whose socket gathers what it was destroyed with. */
function socketed(errors: unknown[]): object {
  return { connection: { stream: { destroy: (error: Error) => errors.push(error) } } };
}

describe('Host', () => {
  it('knows how long its queries took', () => {
    const { host, clock } = bench();
    host.begin(true);
    host.begin(false);

    host.finish(clock.now() - 100, clock);
    host.finish(clock.now() - 200, clock);

    expect(host.latencyMillis).toBe(120);
  });

  it('forgets how long its queries took when it serves again', () => {
    const { host, clock } = bench();
    host.begin(true);
    host.finish(clock.now() - 16_000, clock);

    host.startSlowly(10_000);

    expect(host.latencyMillis).toBe(0);
  });

  it('is idle once all that ran has ended', async () => {
    const { host, clock } = bench();
    host.begin(true);
    host.begin(false);
    const idle = host.idle(100, clock);
    const tooLate = host.idle(10, clock);

    host.finish(0, clock);
    clock.advance(10);
    expect(await tooLate).toBe(false);
    host.finish(0, clock);

    expect(await idle).toBe(true);
    expect(clock.pending).toBe(0);
    expect(await host.idle(0, clock)).toBe(true);
  });

  it('ends what runs, and what is being opened, each with an error of its own', async () => {
    const errors: unknown[] = [];
    const { host } = bench({ create: async () => socketed(errors) });
    await Promise.all([host.pool.acquire().promise, host.pool.acquire().promise]);
    host.pool.gate.dialling.begin(socketed(errors));

    host.abandonConnections(() => new Error('silent'));

    expect(errors).toEqual([1, 2, 3].map(() => new Error('silent')));
    expect(new Set(errors).size).toBe(3);
  });

  it('gives what runs on outdated connections half a minute, each with an error of its own', async () => {
    const errors: unknown[] = [];
    const { host, clock } = bench({ max: 3, create: async () => socketed(errors) });
    const all = [1, 2, 3].map(() => host.pool.acquire().promise);
    const [back] = await Promise.all(all);

    host.replaceConnections();
    host.pool.release(back ?? {});
    clock.advance(29_999);
    expect(errors).toEqual([]);
    clock.advance(1);

    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/30000 ms later/) }),
      expect.objectContaining({ message: expect.stringMatching(/30000 ms later/) }),
    ]);
    expect(errors[0]).not.toBe(errors[1]);
  });

  it('waits for nothing where no connection is in use', () => {
    const { host, clock } = bench();

    host.replaceConnections();

    expect(clock.pending).toBe(0);
  });

  it('ends what still runs when its time is over, each with an error of its own', async () => {
    const errors: unknown[] = [];
    const { host, clock } = bench({ create: async () => socketed(errors) });
    await Promise.all([host.pool.acquire().promise, host.pool.acquire().promise]);
    host.replaceConnections();

    const ended = host.end(500);
    clock.advance(500);
    await ended;

    expect(errors).toMatchObject(
      [1, 2].map(() => ({
        code: 'ECONNABORTED',
        message: expect.stringMatching(/within 500 ms/),
      })),
    );
    expect(new Set(errors).size).toBe(2);
    expect(clock.pending).toBe(0);
  });

  it.each<[string, object, string | undefined, boolean]>([
    ['a connection that tells nothing', {}, 's', true],
    ['one of a replica', { role: 'replica', server: 's' }, 's', false],
    ['one of the primary that was probed', { role: 'primary', server: 's' }, 's', true],
    ['one of another server', { role: 'primary', server: 't' }, 's', false],
    ['one where no server was told by a probe', { role: 'primary', server: 't' }, undefined, true],
  ])('judges %s', (_, facts, server, isRight) => {
    const { host } = bench();
    host.report = reportOf('primary', { server });
    const connection = {};
    listenToServer(connection, () => undefined);
    Object.assign(serverFacts(connection) ?? {}, facts);

    expect(host.isPrimaryConnection(connection)).toBe(isRight);
  });
});

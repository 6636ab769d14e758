import { describe, expect, it } from '@jest/globals';
import type { Connection, Host } from '../../../lib/hosts/host.ts';
import { HangWatch, SilentHostError } from '../../../lib/monitor/hang-watch.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { healthSettings, hostSettings, makeHost } from '../../support/hosts.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly watch: HangWatch;
  readonly host: Host;
  /** Takes a connection, and gathers what it is severed with. */
  readonly take: () => Promise<readonly unknown[]>;
}

function bench(): Bench {
  const clock = new FakeClock();
  const host = makeHost(hostSettings('a'), 'replica', {}, clock);
  const watch = new HangWatch(host, { ...healthSettings, hangMillis: 3000 }, clock);
  const take = async (): Promise<readonly unknown[]> => {
    const errors: unknown[] = [];
    const connection: Connection = await host.pool.acquire().promise;
    const stream = { destroy: (error: Error) => errors.push(error) };
    Object.assign(connection, { connection: { stream } });
    return errors;
  };
  return { clock, watch, host, take };
}

describe('HangWatch', () => {
  it('severs what is in use a time after the first missed probe', async () => {
    const { clock, watch, take } = bench();
    const errors = await take();

    watch.noteSilence();
    clock.advance(2000);
    watch.noteSilence();
    clock.advance(999);
    expect(errors).toEqual([]);
    clock.advance(1);

    expect(errors).toEqual([expect.any(SilentHostError)]);
    expect(errors[0]).toMatchObject({
      code: 'ETIMEDOUT',
      message: 'a is unreachable: it answers nothing, and no probe, for 4000 ms.',
    });
  });

  it('uses none of the idle connections again either', async () => {
    const { clock, watch, host } = bench();
    const idle = await host.pool.acquire().promise;
    host.pool.release(idle);

    watch.noteSilence();
    clock.advance(3000);

    expect(await host.pool.acquire().promise).not.toBe(idle);
  });

  it('waits a little longer where the process itself was held up', async () => {
    const { clock, watch, take } = bench();
    const errors = await take();

    watch.noteSilence();
    clock.stall(20_000);
    expect(errors).toEqual([]);

    clock.advance(healthSettings.timeoutMillis);
    expect(errors).toHaveLength(1);
  });

  it('leaves all alone when the host answers in time', async () => {
    const { clock, watch, take } = bench();
    const errors = await take();

    watch.noteSilence();
    clock.advance(2999);
    watch.noteAnswer();
    clock.advance(9000);

    expect(errors).toEqual([]);
  });

  it('counts from the next missed probe after an answer', async () => {
    const { clock, watch, take } = bench();
    const errors = await take();
    watch.noteSilence();
    clock.advance(2000);
    watch.noteAnswer();

    watch.noteSilence();
    clock.advance(2000);
    expect(errors).toHaveLength(0);
    clock.advance(1000);

    expect(errors).toHaveLength(1);
  });

  it('looks again at a host that stays silent', async () => {
    const { clock, watch, host, take } = bench();
    watch.noteSilence();
    clock.advance(3000);
    const errors = await take();

    watch.noteSilence();
    clock.advance(3000);

    expect(errors).toHaveLength(1);
    expect(host.pool.stats.used).toBe(1);
  });

  it('leaves no timer when it is destroyed', () => {
    const { clock, watch } = bench();

    watch.noteSilence();
    watch.destroy();

    expect(clock.pending).toBe(0);
  });
});

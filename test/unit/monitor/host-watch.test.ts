import { describe, expect, it } from '@jest/globals';
import type { HealthSettings } from '../../../lib/config/settings.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import type { Host } from '../../../lib/hosts/host.ts';
import { HostWatch } from '../../../lib/monitor/host-watch.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import type { Conduct } from '../../support/fake-servers.ts';
import { FakeServers, pass, settle } from '../../support/fake-servers.ts';
import { hostOf, healthSettings, makeUnseenCluster } from '../../support/hosts.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly cluster: Cluster;
  readonly host: Host;
  readonly servers: FakeServers;
  readonly watch: HostWatch;
  /** How long it took from each probe to the next. */
  readonly gaps: () => readonly number[];
}

const outside = <T>(run: () => T): T => run();

/** A watch of a host `a`, which is alone. */
function bench(
  conduct: Conduct,
  settings: Partial<HealthSettings> = {},
  random: () => number = () => 0.5,
  needsPrimary = true,
): Bench {
  const clock = new FakeClock();
  const servers = new FakeServers(clock, { a: conduct });
  const cluster = makeUnseenCluster({ a: {} }, { clock, health: settings });
  const host = hostOf(cluster, 'a');
  const parts = {
    cluster,
    clock,
    random,
    needsPrimary,
    outside,
    settings: { ...healthSettings, ...settings },
  };
  const watch = new HostWatch(host, servers.dialer(host), parts);
  const gaps = (): readonly number[] => {
    const times = servers.probesOf('a');
    return times.slice(1).map((time, index) => time - (times[index] ?? 0));
  };
  return { clock, cluster, host, servers, watch, gaps };
}

const refusal = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const fatal = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code, severity: 'FATAL', length: 1 });

describe('HostWatch', () => {
  it('probes once each interval', async () => {
    const { clock, watch, gaps } = bench('primary');

    void watch.check();
    await settle();
    await pass(clock, 15_000, 100);

    expect(gaps()).toEqual([5000, 5000, 5000]);
  });

  it.each([
    [0, 4000],
    [0.25, 4500],
    [1, 6000],
  ])('is off the interval by a fifth at most: %d → %d', async (random, gap) => {
    const { clock, watch, gaps } = bench('primary', {}, () => random);

    void watch.check();
    await settle();
    await pass(clock, 6100, 20);

    expect(gaps()[0]).toBeCloseTo(gap, -2);
  });

  it('shares a probe that is running', async () => {
    const { servers, watch } = bench('primary');

    await Promise.all([watch.check(), watch.check()]);

    expect(servers.probesOf('a')).toHaveLength(1);
  });

  it('repeats a probe once for any number of doubts while it runs', async () => {
    const { clock, servers, watch } = bench('primary');
    const answer = servers.hold();

    const checked = watch.check();
    await settle();
    for (let i = 0; i < 3; i++) watch.nudge();
    clock.advance(1);
    answer();
    await checked;

    expect(servers.probesOf('a')).toHaveLength(2);
  });

  it('probes at once when its connection is lost', async () => {
    const { clock, servers, watch } = bench('primary');
    await watch.check();

    clock.advance(250);
    servers.clients[0]?.emit('end');
    await settle();

    expect(servers.probesOf('a')).toHaveLength(2);
    expect(servers.clients).toHaveLength(2);
  });

  it('probes soon when its connection is lost at once, but not again and again', async () => {
    const { clock, servers, watch, gaps } = bench('primary');
    await watch.check();

    for (let millis = 0; millis < 1000; millis += 10) {
      servers.clients.at(-1)?.emit('end');
      await pass(clock, 10);
    }

    expect(gaps()).toEqual([250, 250, 250, 250]);
  });

  it('suspects a host that refuses, and lets it rest longer and longer once it is down', async () => {
    const { clock, cluster, host, watch, gaps } = bench(refusal);
    // Without one it would be asked more often for that.
    Object.defineProperty(cluster, 'elected', { value: host });

    void watch.check();
    await settle();
    await pass(clock, 4000, 50);

    expect(gaps()).toEqual([250, 250, 1000, 2000]);
    expect(host).toMatchObject({ health: { state: 'down', trouble: 'refused' } });
    expect(host.lastError).toBe(refusal);
  });

  it('asks four times a second while there is no primary', async () => {
    const { clock, watch, gaps } = bench('replica', {}, () => 1);

    void watch.check();
    await settle();
    await pass(clock, 1000);

    expect(gaps()).toEqual([250, 250, 250, 250]);
  });

  it('asks as often until the primary that has come back may take writes', async () => {
    const { clock, host, servers, watch } = bench('primary');
    await watch.check();
    servers.conduct.set('a', refusal);
    servers.clients[0]?.emit('end');
    watch.nudge();
    await pass(clock, 5000, 50);
    expect(host.health.state).toBe('down');

    servers.conduct.set('a', 'primary');
    await pass(clock, 600, 50);

    expect(host.health.state).toBe('up');
  });

  it('asks no more often where nobody waits for a primary', async () => {
    const { clock, watch, gaps } = bench('replica', {}, () => 0.5, false);

    void watch.check();
    await settle();
    await pass(clock, 10_000, 100);

    expect(gaps()).toEqual([5000, 5000]);
  });

  it('dials anew each second while there is no primary, for the name may have moved', async () => {
    const { clock, servers, watch } = bench('replica');

    void watch.check();
    await settle();
    await pass(clock, 3000);

    expect(servers.probesOf('a').length).toBeGreaterThan(10);
    expect(servers.clients).toHaveLength(4);
  });

  it('hastens the next probe when the primary is lost', async () => {
    const { clock, cluster, servers, watch } = bench('primary');
    await watch.check();
    await pass(clock, 1000, 100);

    Object.defineProperty(cluster, 'elected', { value: undefined });
    watch.hasten();
    await pass(clock, 250);

    expect(servers.probesOf('a')).toHaveLength(2);
  });

  it.each<[string, Conduct, object]>([
    ['one that answers', 'primary', { state: 'up' }],
    ['one that is silent', 'hang', { state: 'suspect', trouble: 'silent' }],
    ['one that refuses', refusal, { state: 'suspect', trouble: 'refused' }],
    [
      'one that starts',
      fatal('57P03', 'the database system is starting up'),
      { state: 'suspect', trouble: 'starting' },
    ],
    [
      'one that knows no such database',
      fatal('3D000', 'database "x" does not exist'),
      { state: 'down', trouble: 'misconfigured' },
    ],
    ['one that has no connection left', fatal('53300', 'too many clients'), { state: 'up' }],
  ])('thinks of %s as it should', async (_, conduct, health) => {
    const { clock, watch, host } = bench(conduct);

    const checked = watch.check();
    await settle();
    await pass(clock, 1000, 1000);
    await checked;

    expect(host.health).toMatchObject(health);
  });

  it('gives up what runs on a host that is silent for too long', async () => {
    const { clock, host, servers, watch } = bench('primary', { hangMillis: 3000 });
    await watch.check();
    const errors: unknown[] = [];
    const stream = { destroy: (error: Error) => errors.push(error) };
    Object.assign(await host.pool.acquire().promise, { connection: { stream } });
    servers.conduct.set('a', 'hang');

    void watch.check();
    await pass(clock, 3900, 100);
    expect(errors).toEqual([]);
    await pass(clock, 200, 100);

    expect(errors).toEqual([expect.objectContaining({ code: 'ETIMEDOUT' })]);
  });

  it('leaves a host alone that answers again in time', async () => {
    const { clock, host, servers, watch } = bench('primary', { hangMillis: 3000 });
    await watch.check();
    const errors: unknown[] = [];
    const stream = { destroy: (error: Error) => errors.push(error) };
    Object.assign(await host.pool.acquire().promise, { connection: { stream } });
    servers.conduct.set('a', 'hang');

    void watch.check();
    await pass(clock, 1500, 100);
    servers.conduct.set('a', 'primary');
    await pass(clock, 5000, 100);

    expect(errors).toEqual([]);
  });

  it('leaves no timer when it is destroyed between two probes', async () => {
    const { clock, watch } = bench('primary');
    await watch.check();

    watch.destroy();

    expect(clock.pending).toBe(0);
    watch.nudge();
    watch.hasten();
    await settle();
    expect(clock.pending).toBe(0);
  });

  it('leaves no timer when it is destroyed while the host is silent', async () => {
    const { clock, watch } = bench('hang');
    void watch.check();
    await pass(clock, 1100, 100);

    watch.destroy();
    await settle();

    expect(clock.pending).toBe(0);
  });

  it.each<[string, Conduct]>([
    ['answers', 'primary'],
    ['is silent', 'hang'],
  ])('takes no note of a host that %s after it was destroyed', async (_, conduct) => {
    const { clock, host, servers, watch } = bench(conduct);
    const answer = servers.hold();
    const checked = watch.check();
    await settle();

    watch.destroy();
    answer();
    await checked;
    await pass(clock, 2000, 500);

    expect(host.health.state).toBe('unknown');
    expect(clock.pending).toBe(0);
    expect(servers.clients[0]?.done).toContain('destroy socket');
  });

  it('dials anew after half a minute on one connection, beside it', async () => {
    const { clock, servers, watch } = bench('primary');

    void watch.check();
    await settle();
    await pass(clock, 29_900, 100);
    expect(servers.clients).toHaveLength(1);
    await pass(clock, 200, 100);
    expect(servers.clients).toHaveLength(2);
    await pass(clock, 29_000, 100);
    expect(servers.clients).toHaveLength(2);
    await pass(clock, 7000, 100);

    expect(servers.clients).toHaveLength(3);
    expect(servers.clients.map(({ done }) => done.includes('end'))).toEqual([true, true, false]);
  });

  it('counts that half minute from when its connection was opened', async () => {
    const { clock, servers, watch } = bench('primary');
    void watch.check();
    await settle();
    await pass(clock, 20_300, 100);
    servers.clients[0]?.emit('end');
    await settle();
    expect(servers.clients).toHaveLength(2);

    await pass(clock, 29_800, 100);
    expect(servers.clients).toHaveLength(2);
    await pass(clock, 6000, 100);

    expect(servers.clients).toHaveLength(3);
  });

  it('stays with its connection where no other can be had, and tries again as late', async () => {
    const { clock, host, servers, watch } = bench('primary');
    void watch.check();
    await settle();
    await pass(clock, 29_000, 100);
    servers.refuseDials = refusal;

    await pass(clock, 31_000, 100);

    expect(servers.clients[0]?.done).not.toContain('end');
    expect(servers.clients.length).toBeLessThanOrEqual(3);
    expect(host.health.state).toBe('up');
  });

  it('dials no more than once a second, however often its name is in doubt', async () => {
    const { clock, servers, watch } = bench('primary');
    await watch.check();
    await pass(clock, 1000);

    for (let i = 0; i < 10; i++) watch.redial();
    await settle();
    expect(servers.clients).toHaveLength(2);
    await pass(clock, 1000);
    watch.redial();
    await settle();

    expect(servers.clients).toHaveLength(3);
    expect(servers.probesOf('a')).toHaveLength(3);
  });

  it('asks a new connection where it is told to check anew', async () => {
    const { servers, watch } = bench('primary');
    await watch.check();

    await watch.checkAnew();

    expect(servers.clients).toHaveLength(2);
    expect(servers.clients[1]?.texts).toHaveLength(1);
  });

  it('asks the old connection where it is told to check anew, and none can be had', async () => {
    const { host, servers, watch } = bench('primary');
    await watch.check();
    servers.refuseDials = refusal;

    await watch.checkAnew();

    expect(servers.clients[0]?.texts).toHaveLength(2);
    expect(host.health.state).toBe('up');
  });
});

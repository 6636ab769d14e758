import { describe, expect, it } from '@jest/globals';
import type { HealthSettings } from '../../../lib/config/settings.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import { Monitor } from '../../../lib/monitor/monitor.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import type { Conduct } from '../../support/fake-servers.ts';
import { FakeServers, pass, settle } from '../../support/fake-servers.ts';
import {
  healthSettings,
  hostOf,
  hostSettings,
  makeUnseenCluster,
  names,
} from '../../support/hosts.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly cluster: Cluster;
  readonly servers: FakeServers;
  readonly monitor: Monitor;
}

function bench(
  conduct: Readonly<Record<string, Conduct>>,
  health: Partial<HealthSettings> = {},
): Bench {
  const clock = new FakeClock();
  const servers = new FakeServers(clock, conduct);
  const sketches = Object.fromEntries(Object.keys(conduct).map((name) => [name, {}]));
  const cluster = makeUnseenCluster(sketches, { clock, health });
  const monitor = new Monitor({
    cluster,
    settings: { ...healthSettings, ...health },
    clock,
    random: () => 0.5,
    needsPrimary: true,
    outside: (run) => run(),
    dialer: servers.dialer,
  });
  return { clock, cluster, servers, monitor };
}

const refusal = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('Monitor', () => {
  it('opens nothing before it is started', async () => {
    const { monitor, servers, clock } = bench({ a: 'primary', b: 'replica' });
    await settle();

    expect(monitor.isStarted).toBe(false);
    expect([servers.clients.length, clock.pending]).toEqual([0, 0]);
  });

  it('probes all hosts at the same time, each over one connection', async () => {
    const { monitor, servers, cluster } = bench({ a: 'primary', b: 'replica', c: 'replica' });
    const answer = servers.hold();

    monitor.start();
    monitor.start();
    await settle();
    expect(servers.clients).toHaveLength(3);
    answer();
    await settle();

    expect(names(cluster.routable.primary)).toEqual(['a']);
    expect(names(cluster.routable.replicas)).toEqual(['b', 'c']);
  });

  it('says how many hosts are up when it is asked to check', async () => {
    const { monitor, cluster } = bench({ a: 'primary', b: refusal });

    expect(await monitor.checkNow()).toBe(1);
    expect(cluster.isSettled).toBe(true);
  });

  it('probes a host at once that a query met trouble on', async () => {
    const { monitor, servers, cluster, clock } = bench({ a: 'primary', b: 'replica' });
    await monitor.checkNow();
    clock.advance(100);

    const ailment = { trouble: 'refused', reason: 'gone' } as const;
    cluster.noteTrouble(hostOf(cluster, 'b'), ailment, refusal);
    expect(names(cluster.routable.replicas)).toEqual([]);
    await settle();

    expect(names(cluster.routable.replicas)).toEqual(['b']);
    expect(servers.probesOf('a')).toHaveLength(1);
    expect(servers.probesOf('b')).toHaveLength(2);
  });

  it('dials anew where the name may stand for another server', async () => {
    const { monitor, servers, cluster, clock } = bench({ a: 'primary', b: 'replica' });
    await monitor.checkNow();
    clock.advance(100);

    cluster.doubt(hostOf(cluster, 'b'), true);
    await settle();

    expect(servers.clients).toHaveLength(3);
  });

  it('finds a new primary a quarter of a second after it was promoted', async () => {
    const { monitor, servers, cluster, clock } = bench({ a: 'primary', b: 'replica' });
    await monitor.checkNow();

    servers.conduct.set('a', refusal);
    const ailment = { trouble: 'refused', reason: 'gone' } as const;
    servers.clients[0]?.emit('end');
    cluster.noteTrouble(hostOf(cluster, 'a'), ailment, refusal);
    await pass(clock, 2000, 50);
    expect(cluster.elected).toBeUndefined();
    servers.conduct.set('b', 'primary');
    await pass(clock, 300, 50);

    expect(cluster.elected?.name).toBe('b');
    expect(names(cluster.routable.primary)).toEqual(['b']);
  });

  it('does not make hosts pay for how often they are asked while the primary is lost', async () => {
    const { monitor, servers, cluster, clock } = bench({ a: 'primary', b: 'replica' });
    await monitor.checkNow();
    for (const host of ['a', 'b']) servers.conduct.set(host, refusal);
    for (const client of servers.clients) client.emit('end');
    await pass(clock, 8000, 50);

    servers.conduct.set('a', 'primary');
    await pass(clock, 1000, 50);
    servers.conduct.set('b', 'replica');
    // No longer than they were away, give or take a doubling.
    await pass(clock, 16_000 + 5000, 100);

    expect(names(cluster.routable.primary)).toEqual(['a']);
    expect(names(cluster.routable.replicas)).toEqual(['b']);
  });

  it('asks the others at once more often when the primary is lost', async () => {
    const { monitor, servers, cluster, clock } = bench({ a: 'primary', b: 'replica' });
    await monitor.checkNow();
    servers.conduct.set('a', refusal);
    servers.clients[0]?.emit('end');

    await pass(clock, 2000, 50);

    expect(cluster.elected).toBeUndefined();
    // For three quarters of a second the primary was suspect, and then it was down.
    expect(servers.probesOf('b').length).toBeGreaterThanOrEqual(6);
  });

  it('watches hosts that join, and no more those that have gone', async () => {
    const { monitor, servers, cluster, clock } = bench({ a: 'primary', b: 'replica' });
    await monitor.checkNow();
    servers.conduct.set('c', 'replica');

    cluster.remove(hostOf(cluster, 'b'));
    cluster.add([hostSettings('c')]);
    monitor.start();
    await settle();
    await pass(clock, 10_000, 500);

    expect(names(cluster.routable.replicas)).toEqual(['c']);
    expect(servers.probesOf('b')).toHaveLength(1);
    expect(servers.clients[1]?.done).toContain('destroy socket soon');
  });

  it('leaves no timer and no connection when it is destroyed, and starts no more', async () => {
    const { monitor, servers, clock } = bench({ a: 'primary', b: 'hang', c: refusal });
    monitor.start();
    await pass(clock, 1500, 100);

    monitor.destroy();
    await settle();

    expect(clock.pending).toBe(0);
    expect(
      servers.clients.every(({ done }) => done.some((what) => what.startsWith('destroy'))),
    ).toBe(true);
    const { length } = servers.clients;
    monitor.start();
    expect(await monitor.checkNow()).toBe(1);
    expect(servers.clients).toHaveLength(length);
  });

  it('takes no note of what is answered after it was destroyed', async () => {
    const { monitor, servers, cluster } = bench({ a: 'primary', b: 'replica' });
    const answer = servers.hold();
    monitor.start();
    await settle();

    monitor.destroy();
    answer();
    await settle();

    expect(cluster.hosts.map(({ health }) => health.state)).toEqual(['unknown', 'unknown']);
  });
});

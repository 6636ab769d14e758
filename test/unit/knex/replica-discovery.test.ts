import { describe, expect, it } from '@jest/globals';
import type { HostSettings } from '../../../lib/config/settings.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { RWSplitEmitter } from '../../../lib/events.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import { ReplicaDiscovery } from '../../../lib/knex/replica-discovery.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { pass, settle } from '../../support/fake-servers.ts';
import { hostSettings, makeCluster, names } from '../../support/hosts.ts';

type Answer = 'hang' | Error | readonly string[];

interface Bench {
  readonly clock: FakeClock;
  readonly cluster: Cluster;
  readonly discovery: ReplicaDiscovery;
  /** The errors that listeners were told of. */
  readonly told: string[];
  /** How often the function was asked. */
  readonly asked: () => number;
}

/** A discovery whose function answers one after the other, the last answer for all that follow. */
function bench(answers: readonly Answer[], answerMillis = 60_000): Bench {
  const clock = new FakeClock();
  const cluster = makeCluster({ primary: {} }, { clock });
  const events = new RWSplitEmitter();
  const told: string[] = [];
  events.on('discovery:error', ({ error }) => told.push(error.message));
  let asked = 0;
  const list = async (): Promise<readonly HostSettings[]> => {
    const answer = answers[asked] ?? answers.at(-1) ?? [];
    asked++;
    if (answer === 'hang') return new Promise(() => undefined);
    if (answer instanceof Error) throw answer;
    return answer.map((name) => hostSettings(name));
  };
  const discovery = new ReplicaDiscovery({
    list,
    cluster,
    remake: () => undefined,
    check: async () => undefined,
    onChange: () => undefined,
    events,
    clock,
    intervalMillis: 30_000,
    answerMillis,
  });
  return { clock, cluster, discovery, told, asked: () => asked };
}

describe('ReplicaDiscovery', () => {
  it('asks once for all who wait for the first answer', async () => {
    const { cluster, discovery, asked } = bench([['b']]);

    await Promise.all([discovery.ask(), discovery.ask()]);

    expect(discovery.isDone).toBe(true);
    expect(asked()).toBe(1);
    expect(names(cluster.hosts)).toEqual(['primary', 'b']);
  });

  it('asks again in the background, and follows the answer', async () => {
    const { clock, cluster, discovery } = bench([['b'], ['b', 'c']]);
    await discovery.ask();

    await pass(clock, 36_000, 1000);

    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });

  it.each<[string, Answer, RegExp]>([
    ['fails', new Error('the registry is away'), /registry is away/],
    ['names no host', [], /named no host/],
  ])('keeps the last list where the function %s later on', async (_, answer, message) => {
    const { clock, cluster, discovery, told } = bench([['b'], answer]);
    await discovery.ask();

    await pass(clock, 36_000, 1000);

    expect(names(cluster.hosts)).toEqual(['primary', 'b']);
    expect(told).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    ['five seconds', 60_000, 5000],
    ['no longer than a query may wait', 800, 800],
  ])('goes on without an answer after %s, and asks again', async (_, answerMillis, millis) => {
    const { clock, discovery, told, asked } = bench(['hang', ['b']], answerMillis);
    const first = discovery.ask();

    clock.advance(millis);
    await first;
    expect(told).toEqual([`rwSplit.replicas() did not answer within ${millis} ms.`]);
    expect(discovery.isDone).toBe(false);
    clock.advance(1000);
    await discovery.ask();

    expect(asked()).toBe(2);
    expect(discovery.isDone).toBe(true);
  });

  it('lets everyone know of an answer that is a mistake', async () => {
    const mistake = new ConfigError('rwSplit.replicas', 'not a list');
    const { discovery } = bench([mistake]);

    await expect(discovery.ask()).rejects.toBe(mistake);
  });

  it('lets nobody wait for the first answer once it is destroyed', async () => {
    const { clock, cluster, discovery, told } = bench(['hang']);
    const waiting = discovery.ask();

    await discovery.destroy();
    await waiting;

    expect(clock.pending).toBe(0);
    expect(told).toEqual([]);
    expect(names(cluster.hosts)).toEqual(['primary']);
  });

  it('asks no more once it is destroyed, whatever it waits for', async () => {
    const { clock, discovery, told, asked } = bench([['b'], 'hang']);
    await discovery.ask();
    clock.advance(36_000);

    await discovery.destroy();
    await settle();
    clock.advance(100_000);

    expect(clock.pending).toBe(0);
    expect(asked()).toBe(2);
    expect(told).toEqual([]);
  });
});

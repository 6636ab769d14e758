import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { type RWSplitEvents, rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { useChaosNetwork } from '../../support/chaos-network.ts';
import { eventually } from '../../support/eventually.ts';
import { quickHealth } from '../../support/outage.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

describe('The scope of a request', () => {
  const cluster = useRoutingDatabase();
  const network = useChaosNetwork(cluster);
  const split = useSplit(cluster, 'eventual');
  const requests = new AsyncLocalStorage<string>();

  it('holds nothing that outlives the request: events, and the function of replicas', async () => {
    const { connection, rwSplit: hosts } = network.config();
    const seen = new Map<string, (string | undefined)[]>();
    const note = (what: string): void => {
      seen.set(what, [...(seen.get(what) ?? []), requests.getStore()]);
    };
    const { db } = split.cold({
      ...(connection === undefined ? {} : { connection }),
      pool: { max: 1 },
      rwSplit: {
        health: quickHealth,
        discovery: { intervalMillis: 100 },
        replicas: async () => {
          note('replicas()');
          return (hosts?.replicas ?? []) as { host: string; port: number }[];
        },
      },
    });
    const events = ['host:up', 'host:down'] satisfies (keyof RWSplitEvents)[];
    for (const event of events) rwSplit(db).on(event, () => note(event));

    await requests.run('the first', async () => {
      await Promise.all([db('notes').count(), db('notes').insert({ rank: 1 })]);
      expect(requests.getStore()).toBe('the first');
    });
    await eventually(() => (seen.get('replicas()')?.length ?? 0) > 2);
    await requests.run('the second', async () => {
      network.to('replica-1').refuse();
      network.to('replica-1').cut();
      for (let n = 0; n < 6; n++) await db('notes').count();
    });
    await awaitHost(db, 'replica-1', ({ state }) => state === 'down');
    await network.to('replica-1').pass();
    await awaitHost(db, 'replica-1', ({ state }) => state === 'up');

    expect(Array.from(seen.keys()).toSorted()).toEqual(['host:down', 'host:up', 'replicas()']);
    expect(new Set([...seen.values()].flat())).toEqual(new Set([undefined]));
  });
});

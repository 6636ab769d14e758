import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { useInstances } from '../../support/instances.ts';
import { inLong, isLong } from '../../support/long.ts';
import { hungReadMillis, machineMillis, type Outage, quickHealth } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { startLoad } from '../../support/steady-load.ts';

const flaps = isLong ? 10 : 2;
const flapMillis = isLong ? 1000 : 600;
const poolSize = 10;

type Way = [string, Outage['fail'], Outage['heal']];

const ways: Way[] = [
  ['by crashes', (host) => host.kill(), (host) => host.start()],
  ...inLong<Way>(['by hanging', (host) => host.hang(), (host) => host.wake()]),
];

describe('A replica that comes and goes', () => {
  const cluster = useOwnCluster();
  const instances = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => healCluster(cluster()));

  it.each(ways)(
    '%s costs no query, and changes its state once each time',
    async (_, fail, heal) => {
      const db = await instances.split({
        pool: { min: 0, max: poolSize },
        rwSplit: { consistency: 'eventual', health: quickHealth },
      });
      await rwSplit(db).checkNow();
      const [flapping] = cluster().replicas as [TestHost];
      const changes: string[] = [];
      const retried: string[] = [];
      rwSplit(db)
        .on('host:up', ({ host }) => changes.push(`${host} up`))
        .on('host:down', ({ host }) => changes.push(`${host} down`))
        .on('retry', ({ host }) => retried.push(host));
      const load = startLoad(db, { readsPerSecond: 150, writesPerSecond: 50 });

      for (let flap = 0; flap < flaps; flap++) {
        await fail(flapping);
        await sleep(flapMillis);
        await heal(flapping);
        await sleep(flapMillis);
      }
      await awaitHost(db, flapping.name, ({ state }) => state === 'up');
      const { reads, writes } = await load.stop();

      expect(reads).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
      expect(writes).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
      expect(reads.longest.delayMillis).toBeLessThan(hungReadMillis + machineMillis);
      expect(new Set(retried)).not.toContain('replica-2');
      // What was on its connections, and no read after that.
      expect(retried.length).toBeLessThanOrEqual(flaps * poolSize);
      expect(changes.length).toBeLessThanOrEqual(2 * flaps);
      expect(changes).toEqual(changes.map((_, n) => `replica-1 ${n % 2 === 0 ? 'down' : 'up'}`));
    },
  );
});

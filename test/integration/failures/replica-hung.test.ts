import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { useInstances } from '../../support/instances.ts';
import {
  hungReadMillis,
  machineMillis,
  quickHealth,
  readmitMillis,
  rideOut,
} from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';

describe('A replica that hangs', () => {
  const cluster = useOwnCluster();
  const instances = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => healCluster(cluster()));

  it('delays reads within the bound, fails no query, and gets its even share again', async () => {
    const db = await instances.split({
      pool: { min: 0, max: 10 },
      rwSplit: { consistency: 'eventual', health: quickHealth },
    });
    const hosts = cluster().replicas.slice(0, 1);

    const outage = await rideOut(db, {
      hosts,
      fail: (host) => host.hang(),
      heal: (host) => host.wake(),
    });

    expect(outage.reads).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    expect(outage.writes).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    expect(outage.reads.longest.delayMillis).toBeLessThan(hungReadMillis + machineMillis);
    expect(outage.writes.longest.delayMillis).toBeLessThan(machineMillis);
    expect(outage.servedWhileDown).not.toHaveProperty('replica-1');
    expect(outage.readmittedMillis).toBeLessThan(readmitMillis + machineMillis);
    expect(outage.evenMillis).toBeLessThan(
      readmitMillis + quickHealth.slowStartMillis + machineMillis,
    );
  });

  it('loses nothing when it hangs for less than hangMillis', async () => {
    const health = { ...quickHealth, hangMillis: 20_000 };
    const db = await instances.split({ rwSplit: { consistency: 'eventual', health } });
    const [hung] = cluster().replicas;
    let retries = 0;
    rwSplit(db).on('retry', () => retries++);
    const slow = db('here').select('host').whereRaw('pg_sleep(0.5) is not null');
    const running = slow.clone().queryContext({ rwSplit: { host: 'replica-1' } });
    const answer = running.then((rows) => rows);

    await sleep(50);
    hung?.hang();
    await awaitHost(db, 'replica-1', ({ state }) => state === 'suspect');
    hung?.wake();
    await awaitHost(db, 'replica-1', ({ state }) => state === 'up');

    expect(await answer).toEqual([{ host: 'replica-1' }]);
    expect(retries).toBe(0);
  });

  it('leaves a statement that takes long alone while it answers probes', async () => {
    const { hangMillis, intervalMillis, timeoutMillis } = quickHealth;
    const db = await instances.split({ rwSplit: { consistency: 'eventual', health: quickHealth } });
    const seconds = (2 * (hangMillis + timeoutMillis) + intervalMillis) / 1000;

    const rows = await db('here')
      .select('host')
      .whereRaw('pg_sleep(?) is not null', [seconds])
      .queryContext({ rwSplit: { host: 'replica-1' } });

    expect(rows).toEqual([{ host: 'replica-1' }]);
  });
});

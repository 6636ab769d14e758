import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestHost } from '../../../lib/testing/index.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { useInstances } from '../../support/instances.ts';
import { machineMillis, quickHealth, readmitMillis, rideOut } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { lostWrites } from '../../support/steady-load.ts';

describe('Under a load of reads and writes', () => {
  const cluster = useOwnCluster();
  const instances = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => healCluster(cluster()));

  it.each([
    ['a replica that is killed', 1, (host: TestHost) => host.kill()],
    ['a replica that is stopped', 1, (host: TestHost) => host.stop()],
    ['the loss of both replicas', 2, (host: TestHost) => host.kill()],
  ])('%s costs no query, and gets its even share again', async (_, count, fail) => {
    const db = await instances.split({
      pool: { min: 0, max: 10 },
      rwSplit: { health: quickHealth },
    });
    const hosts = cluster().replicas.slice(0, count);

    const outage = await rideOut(db, { hosts, fail, heal: (host) => host.start() });

    expect(outage.reads).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    expect(outage.writes).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    expect(Object.keys(outage.servedWhileDown)).toEqual([count === 1 ? 'replica-2' : 'primary']);
    expect(outage.readmittedMillis).toBeLessThan(readmitMillis + machineMillis);
    const { 'replica-1': one = 0, 'replica-2': other = 0, ...others } = outage.servedAfter;
    expect(others).toEqual({});
    expect(one / (one + other)).toBeCloseTo(0.5, 1);
    expect(await lostWrites(cluster().primary, outage)).toEqual([]);
  });
});

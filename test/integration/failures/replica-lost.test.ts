import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestHost } from '../../../lib/testing/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { countDials } from '../../support/dial-counter.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { useInstances } from '../../support/instances.ts';
import { amount } from '../../support/long.ts';
import { machineMillis, quickHealth, readmitMillis, rideOut } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { stalledProcesses } from '../../support/stalled-read.ts';
import { lostWrites, startLoad } from '../../support/steady-load.ts';

describe('Under a load of reads and writes', () => {
  const cluster = useOwnCluster();
  const instances = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => healCluster(cluster()));

  const losses: [string, number, (host: TestHost) => Promise<void>][] = [
    ['a replica that is stopped', 1, (host) => host.stop()],
    ['the loss of both replicas', 2, (host) => host.kill()],
    ['a replica that is killed', 1, (host) => host.kill()],
  ];

  it.each(losses.slice(0, amount(2)))(
    '%s costs no query, and gets its even share again',
    async (_, count, fail) => {
      const db = await instances.split({
        pool: { min: 0, max: 10 },
        rwSplit: { consistency: 'eventual', health: quickHealth },
      });
      const hosts = cluster().replicas.slice(0, count);

      const outage = await rideOut(db, { hosts, fail, heal: (host) => host.start() });

      expect(outage.reads).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
      expect(outage.writes).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
      const lost = hosts.map(({ name }) => name);
      expect(Object.keys(outage.servedWhileDown).filter((name) => lost.includes(name))).toEqual([]);
      expect(outage.readmittedMillis).toBeLessThan(readmitMillis + machineMillis);
      expect(outage.evenMillis).toBeLessThan(
        readmitMillis + quickHealth.slowStartMillis + machineMillis,
      );
      expect(await lostWrites(cluster().primary, outage)).toEqual([]);
    },
  );

  it('a replica that is down is dialled by probes alone, ever more seldom', async () => {
    const db = await instances.split({
      rwSplit: { consistency: 'eventual', health: { ...quickHealth, fall: 3 } },
    });
    const [gone] = cluster().replicas as [TestHost];
    const load = startLoad(db, { readsPerSecond: 150, writesPerSecond: 50 });
    await gone.kill();
    const counter = await countDials(gone);

    await awaitHost(db, gone.name, ({ state }) => state === 'down');
    const downAt = performance.now();
    const untilDown = counter.dials.length;
    await sleep(1000);
    const whileDown = counter.dials.filter((at) => at > downAt);
    await counter.stop();
    await gone.start();
    const { reads } = await load.stop();

    expect(reads).toMatchObject({ failed: 0, unanswered: 0 });
    // Those of the pool that were on their way, and a probe or two for each failure.
    expect(untilDown).toBeLessThanOrEqual(4 + 2 * 3);
    // 200, 400, 500 milliseconds apart, and up to a fifth less.
    expect(whileDown.length).toBeGreaterThanOrEqual(2);
    expect(whileDown.length).toBeLessThanOrEqual(4);
  });

  it('a replica that is back begins with a small share of the reads', async () => {
    const slowStartMillis = 5000;
    const db = await instances.split({
      rwSplit: {
        consistency: 'eventual',
        health: { ...quickHealth, slowStartMillis },
        fallback: 'error',
      },
    });
    const [back] = cluster().replicas as [TestHost];
    await back.kill();
    await db('here').select('host');
    await awaitHost(db, back.name, ({ state }) => state === 'down');
    await back.start();

    const { weight } = await awaitHost(db, back.name, ({ state }) => state === 'up');
    const load = startLoad(db, { readsPerSecond: 200, writesPerSecond: 0 });
    await sleep(500);
    const { reads } = await load.stop();
    const grown = await awaitHost(db, back.name, (host) => host.weight > 2 * weight);

    expect(weight).toBeLessThan(0.5);
    expect(grown.weight).toBeLessThanOrEqual(1);
    const { 'replica-1': one = 0, 'replica-2': other = 0 } = reads.served;
    expect(one).toBeGreaterThan(0);
    expect(one).toBeLessThan(other / 2);
  });

  it('the loss of both replicas leaves most of the primary to writes', async () => {
    const db = await instances.split({
      pool: { min: 0, max: 10 },
      rwSplit: { consistency: 'eventual', health: quickHealth, fallbackShare: 0.3 },
    });
    await Promise.all(cluster().replicas.map((host) => host.kill()));
    const load = startLoad(db, {
      // Six at a time, if they could.
      readsPerSecond: 30,
      writesPerSecond: 50,
      read: (knex) => knex('here').select('host as server').whereRaw('pg_sleep(0.2) is not null'),
    });
    for (const { name } of cluster().replicas) {
      await awaitHost(db, name, ({ state }) => state === 'down');
    }

    const atOnce: number[] = [];
    for (const end = load.now() + 800; load.now() < end; await sleep(20)) {
      atOnce.push((await stalledProcesses(cluster().primary)).length);
    }
    await Promise.all(cluster().replicas.map((host) => host.start()));
    const { reads, writes } = await load.stop();

    expect(Math.max(...atOnce)).toBe(3);
    expect(writes).toMatchObject({ failed: 0, unanswered: 0 });
    expect(writes.longest.delayMillis).toBeLessThan(machineMillis);
    expect(reads).toMatchObject({ failed: 0, unanswered: 0 });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { isAnswered } from '../../support/load-report.ts';
import { machineMillis } from '../../support/outage.ts';
import { setSettings } from '../../support/set-settings.ts';
import { lostWrites, startLoad } from '../../support/steady-load.ts';
import { untilWritable } from '../../support/until-writable.ts';

// From the moment that the promoted server takes writes.
const resumeMillis = 1000;
// A busy machine may hold up one failover, and not all of them.
const failovers = 3;
// How long the load goes on from there.
const afterwardsMillis = 500;

describe('A primary that is killed, and a replica that is promoted', () => {
  const { cluster, hosts, warm } = useFailover();

  it('cost no acknowledged write and no read, and the writes go on at once', async () => {
    let best = Number.POSITIVE_INFINITY;
    for (let time = 0; time < failovers && best >= resumeMillis; time++) {
      if (time > 0) await healCluster(cluster());
      best = Math.min(best, await failOver());
    }

    expect(best).toBeLessThan(resumeMillis);
  }, 120_000);

  /** Says how long after it could the promoted server took the first write of a load. */
  async function failOver(): Promise<number> {
    const [first, second] = hosts();
    await setSettings(first, { synchronous_standby_names: '2 ("replica-1", "replica-2")' });
    const { db } = await warm({ pool: { min: 0, max: 10 } });
    const load = startLoad(db, { readsPerSecond: 150, writesPerSecond: 50 });
    await sleep(500);

    await first.kill();
    const killedAt = load.now();
    await sleep(500);
    const promotion = second.promote();
    await untilWritable(second);
    const writableAt = load.now();
    await promotion;
    const isResumed = (): boolean =>
      load.writes.some((write) => isAnswered(write) && write.server === 'replica-1');
    await eventually(isResumed, { withinMillis: machineMillis });
    await sleep(afterwardsMillis);
    const report = await load.stop();

    expect(report.reads).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    expect(report.writes).toMatchObject({ unanswered: 0, skipped: 0 });
    // What was on its way as the primary died, and nothing else.
    const others = report.failedWrites.filter(({ outcome }) => outcome !== 'unknown');
    expect(others).toEqual([]);
    expect(report.failedWrites.every(({ atMillis }) => atMillis < killedAt + 500)).toBe(true);
    expect(report.acknowledged.length).toBeGreaterThan(50);
    expect(await lostWrites(second, report)).toEqual([]);

    const resumed = load.writes
      .filter((write) => isAnswered(write) && write.server === 'replica-1')
      .map(({ atMillis, delayMillis = 0 }) => atMillis + delayMillis);
    return Math.min(...resumed) - writableAt;
  }

  it('give the promoted host what the primary had: writes, and the size of its pool', async () => {
    const [first, second] = hosts();
    const replicas = cluster().replicas.map(({ name, host, port }) => ({
      name,
      host,
      port,
      pool: { max: 2 },
    }));
    const { db } = await warm({ pool: { min: 0, max: 6 }, rwSplit: { replicas } });
    expect(maxima(db)).toEqual([6, 2, 2]);

    await first.kill();
    await second.promote();
    await awaitHost(db, 'replica-1', ({ role, state }) => role === 'primary' && state === 'up');
    expect(maxima(db)).toEqual([6, 6, 2]);
    const asleep = Array.from({ length: 6 }, async () =>
      db.transaction(async (trx) => trx.raw('select pg_sleep(0.3)')),
    );
    await awaitHost(db, 'replica-1', ({ pool }) => pool.used === 6);
    await Promise.all(asleep);
  });

  it('are told by events, and by what is known of each host', async () => {
    const [first, second] = hosts();
    const { db } = await warm();
    const events: string[] = [];
    rwSplit(db).on('host:down', ({ host }) => events.push(`${host} down`));
    rwSplit(db).on('host:role', ({ host, role }) => events.push(`${host} ${role}`));

    await first.kill();
    await second.promote();
    const known = await awaitHost(db, 'replica-1', ({ role }) => role === 'primary');
    await awaitHost(db, addressOf(first), ({ state }) => state === 'down');

    expect(known).toMatchObject({ state: 'up', isRoleObserved: true, reason: undefined });
    expect(known.timeline).toBeGreaterThan(1);
    expect(events).toContain(`${addressOf(first)} down`);
    expect(events).toContain('replica-1 primary');
  });
});

function maxima(db: Knex): number[] {
  return rwSplit(db)
    .hosts()
    .map(({ pool }) => pool.max);
}

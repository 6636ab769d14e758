import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { lostWrites, startLoad } from '../../support/steady-load.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

describe('startLoad', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster);

  it('sends at its rate, and says who served what', async () => {
    const { db } = await split.warm();
    const load = startLoad(db, { readsPerSecond: 100, writesPerSecond: 50 });
    await sleep(1000);

    const { reads, writes, ...report } = await load.stop();

    expect(reads.total).toBeGreaterThanOrEqual(95);
    expect(writes.total).toBeGreaterThanOrEqual(48);
    expect(writes.total).toBeLessThanOrEqual(reads.total);
    expect(reads).toMatchObject({ failed: 0, unanswered: 0, skipped: 0, errors: [] });
    expect(Object.keys(reads.served).filter((name) => /^replica-\d$/.test(name))).toHaveLength(2);
    expect(writes.served).toEqual({ primary: writes.total });
    expect(report).toMatchObject({ failedWrites: [], acknowledged: { length: writes.total } });
    expect(report.secondsWithoutWrite).toBeLessThan(0.8);
    expect(await lostWrites(cluster().primary, report)).toEqual([]);
  });

  it('notices a write that was lost', async () => {
    const { db } = await split.warm();
    const load = startLoad(db, { readsPerSecond: 1, writesPerSecond: 50 });
    await sleep(200);
    const report = await load.stop();
    const [, lost = ''] = report.acknowledged;

    await cluster().primary.query('delete from notes where body = $1', [lost]);

    expect(await lostWrites(cluster().primary, report)).toEqual([lost]);
  });

  it('does not slow down when answers are late, up to a limit', async () => {
    const { db } = await split.warm();
    const never = new Promise<void>(() => undefined);
    const load = startLoad(db, {
      readsPerSecond: 500,
      writesPerSecond: 0,
      read: () => never,
      maxInFlight: 50,
    });
    await sleep(300);

    const { reads } = await load.stop(20);

    expect(reads).toMatchObject({ total: 50, answered: 0, unanswered: 50 });
    expect(reads.skipped).toBeGreaterThan(50);
    expect(reads.longest.delayMillis).toBeGreaterThanOrEqual(300);
  });

  it('reports failures with their code and outcome', async () => {
    const { db } = await split.warm();
    const failure = Object.assign(new Error('gone'), {
      code: '57P01',
      rwSplit: { outcome: 'unknown' },
    });
    const load = startLoad(db, {
      readsPerSecond: 50,
      writesPerSecond: 50,
      read: (knex) => knex.raw('select 1 / 0'),
      write: () => Promise.reject(failure),
    });
    await sleep(100);

    const { reads, writes, failedWrites, acknowledged } = await load.stop();

    expect(reads.errors[0]).toMatchObject({ code: '22012', outcome: undefined });
    expect(writes.failed).toBe(writes.total);
    expect(failedWrites[0]).toMatchObject({ code: '57P01', message: 'gone', outcome: 'unknown' });
    expect(acknowledged).toEqual([]);
  });
});

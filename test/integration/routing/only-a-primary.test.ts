import { describe, expect, it } from '@jest/globals';
import { until } from '../../../lib/testing/until.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

describe('Without replicas', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it('reads use every connection of the primary at once', async () => {
    const { db } = await split.warm({ pool: { max: 4 }, rwSplit: { replicas: [] } });
    const sleeping = `from pg_stat_activity where datname = current_database()
      and query like 'select pg_sleep(20)%' and state = 'active'`;

    const reads = [1, 2, 3, 4].map(async () => db.raw('select pg_sleep(20)').catch(String));
    await until('four of them run', 5000, async () => {
      const rows = await cluster().primary.query(`select ${sleeping}`);
      return rows.length === 4;
    });

    await cluster().primary.query(`select pg_cancel_backend(pid) ${sleeping}`);
    await expect(Promise.all(reads)).resolves.toEqual(
      Array(4).fill(expect.stringContaining('canceling statement due to user request')),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { ClusterError } from '../../../lib/testing/index.ts';
import { sharedCluster } from '../../support/cluster.ts';
import { useDatabase } from '../../support/database.ts';

describe('The cluster that test files share', () => {
  const cluster = useDatabase();

  it('is attached to, so that no test file can end its servers', async () => {
    const { primary } = await sharedCluster();

    await expect(primary.kill()).rejects.toThrow(ClusterError);
    await expect(primary.query('select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it('gives each test file a database of its own on every host', async () => {
    const ask = 'select current_database() as name';

    const answers = await Promise.all(cluster().hosts.map((host) => host.query(ask)));

    expect(answers.flat()).toEqual(cluster().hosts.map(() => ({ name: cluster().database })));
    expect(cluster().database).not.toBe((await sharedCluster()).database);
  });

  it('counts the statements of such a database', async () => {
    expect(cluster().hasStatementStatistics).toBe(true);
    await expect(
      cluster().primary.query('select from pg_stat_statements limit 1'),
    ).resolves.toHaveLength(1);
  });
});

import { describe, expect, it } from '@jest/globals';
import { ClusterError, type TestHost } from '../../../lib/testing/index.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';

const countRows = 'select count(*)::int as rows from notes';

describe('The replay of a replica', () => {
  const cluster = useOwnCluster({ replicas: 2 });

  function replica(name: string): TestHost {
    const found = cluster().hosts.find((host) => host.name === name);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found;
  }

  it('brings what the primary wrote by the end of waitForReplay', async () => {
    await cluster().primary.query('create table notes as select 1 as id');

    await cluster().waitForReplay();

    await expect(replica('replica-1').query(countRows)).resolves.toEqual([{ rows: 1 }]);
    await expect(replica('replica-2').query(countRows)).resolves.toEqual([{ rows: 1 }]);
  });

  it('stands still from pauseReplay to resumeReplay', async () => {
    await replica('replica-1').pauseReplay();
    await cluster().primary.query('insert into notes values (2)');
    await replica('replica-2').waitForReplay();

    await expect(replica('replica-1').waitForReplay(100)).rejects.toThrow(
      /^Waited 100 ms in vain until replica-1 has replayed /,
    );
    await expect(cluster().waitForReplay(100)).rejects.toThrow(ClusterError);
    await expect(replica('replica-1').query(countRows)).resolves.toEqual([{ rows: 1 }]);

    await replica('replica-1').resumeReplay();
    await replica('replica-1').waitForReplay();

    await expect(replica('replica-1').query(countRows)).resolves.toEqual([{ rows: 2 }]);
  });

  it('ends with cutReplication, while reads are served, and goes on after restoreReplication', async () => {
    const receivers = 'select count(*)::int as receivers from pg_stat_wal_receiver';

    await replica('replica-2').cutReplication();
    await cluster().primary.query('insert into notes values (3)');

    await expect(replica('replica-2').query(receivers)).resolves.toEqual([{ receivers: 0 }]);
    await expect(replica('replica-2').waitForReplay(300)).rejects.toThrow(ClusterError);
    await expect(replica('replica-2').query(countRows)).resolves.toEqual([{ rows: 2 }]);

    await replica('replica-2').restoreReplication();
    await replica('replica-2').waitForReplay();

    await expect(replica('replica-2').query(countRows)).resolves.toEqual([{ rows: 3 }]);
  });

  it('cannot be cut twice, nor restored uncut', async () => {
    await replica('replica-2').cutReplication();

    await expect(replica('replica-2').cutReplication()).rejects.toThrow('receives from no host');
    await replica('replica-2').restoreReplication();
    await expect(replica('replica-2').restoreReplication()).rejects.toThrow('was not cut');
  });

  it('is not waited for at the primary', async () => {
    await expect(cluster().primary.waitForReplay(0)).resolves.toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { useOwnCluster } from '../../support/own-cluster.ts';

const count = 'select count(*)::int as rows from ledger';

describe('A promotion', () => {
  const cluster = useOwnCluster();

  it('is followed by the cluster, host by host', async () => {
    const [first, second, third] = cluster().hosts;
    await first?.query('create table ledger as select 1 as id');
    await cluster().waitForReplay();

    await second?.promote();

    expect(cluster().primary.name).toBe('replica-1');
    expect(cluster().replicas.map(({ name }) => name)).toEqual(['primary', 'replica-2']);
    expect(cluster().connection()).toEqual(second?.connection);
    expect(cluster().url).toContain(`@${second?.host}:${second?.port},`);

    // The old primary knows nothing of it, and its replica follows it still.
    await first?.query('insert into ledger values (2)');
    await expect(third?.waitForReplay()).rejects.toThrow('replica-2 does not follow replica-1');
    await expect(cluster().waitForReplay()).resolves.toBeUndefined();

    await second?.query('insert into ledger values (3), (4)');
    await first?.rejoin();
    await third?.rejoin();
    await cluster().waitForReplay();

    const rows = await Promise.all(cluster().hosts.map((host) => host.query(count)));
    expect(rows.flat()).toEqual([{ rows: 3 }, { rows: 3 }, { rows: 3 }]);
    await expect(
      second?.query('select application_name as name from pg_stat_replication order by 1'),
    ).resolves.toEqual([{ name: 'primary' }, { name: 'replica-2' }]);
  });

  it('is survived by a killed primary, which can rejoin, and lead again', async () => {
    const [first, second, third] = cluster().hosts;
    await second?.kill();

    await first?.promote();
    await second?.rejoin();
    await third?.rejoin();
    await first?.query('insert into ledger values (5)');
    await cluster().waitForReplay();

    expect(cluster().primary.name).toBe('primary');
    await expect(third?.query(count)).resolves.toEqual([{ rows: 4 }]);
    await expect(second?.query(count)).resolves.toEqual([{ rows: 4 }]);
  });

  it('makes a copy that is sound while the primary is being written', async () => {
    const [first, second] = cluster().hosts;
    const stop = new AbortController();
    const writing = (async () => {
      while (!stop.signal.aborted) {
        await first?.query('insert into ledger select generate_series(1, 1000)');
      }
    })();

    await second?.rejoin();
    stop.abort();
    await writing;
    await second?.waitForReplay();

    await expect(second?.query(count)).resolves.toEqual(await first?.query(count));
  });

  it('is not for the primary to undergo, nor a rejoin', async () => {
    await expect(cluster().primary.rejoin()).rejects.toThrow('primary is the primary itself');
    await expect(cluster().primary.promote()).rejects.toThrow('recovery is not in progress');
  });

  it('leaves nobody who follows, whoever followed whom before', async () => {
    const [first, second, third] = cluster().hosts;
    expect(cluster().primary).toBe(first);

    await second?.promote();

    expect(first?.isFollowing).toBe(false);
    await expect(first?.waitForReplay()).rejects.toThrow('primary does not follow replica-1');
    await first?.rejoin();
    expect(first?.isFollowing).toBe(true);
    // The third still receives from the first, which has another history by now.
    await first?.waitForReplay();
    await first?.promote();
    expect(third?.isFollowing).toBe(false);
  });
});

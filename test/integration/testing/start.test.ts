import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { ClusterError } from '../../../lib/testing/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';

describe('A started cluster', () => {
  const cluster = useOwnCluster();

  it('has a primary and two replicas that know their names', async () => {
    const ask = `select current_setting('cluster_name') as name, pg_is_in_recovery() as recovers`;

    const answers = await Promise.all(cluster().hosts.map((host) => host.query(ask)));

    expect(answers.flat()).toEqual([
      { name: 'primary', recovers: false },
      { name: 'replica-1', recovers: true },
      { name: 'replica-2', recovers: true },
    ]);
  });

  it('streams to every replica', async () => {
    const rows = await cluster().primary.query(
      'select application_name as name, state, sync_state from pg_stat_replication order by 1',
    );

    expect(rows).toEqual([
      { name: 'replica-1', state: 'streaming', sync_state: 'async' },
      { name: 'replica-2', state: 'streaming', sync_state: 'async' },
    ]);
  });

  it('listens on the loopback address only', async () => {
    const rows = await cluster().primary.query(
      `select current_setting('listen_addresses') as tcp, current_setting('unix_socket_directories') as sockets`,
    );

    expect(rows).toEqual([{ tcp: '127.0.0.1', sockets: '' }]);
  });

  it('refuses a wrong password', async () => {
    const client = new Client({ ...cluster().connection(), password: 'wrong' });

    await expect(client.connect()).rejects.toThrow('password authentication failed');
  });

  it('shows its password in no setting of a replica', async () => {
    const rows = await cluster().hosts[1]?.query(
      `select setting from pg_settings where setting like '%' || $1 || '%'`,
      [cluster().password],
    );

    expect(rows).toEqual([]);
  });

  it('counts statements in its database', async () => {
    const rows = await cluster().primary.query(
      'select count(*) > 0 as counts from pg_stat_statements',
    );

    expect([cluster().hasStatementStatistics, rows]).toEqual([true, [{ counts: true }]]);
  });

  it('is named by one URL with every host, the primary first', () => {
    const { user, password, hosts, database } = cluster();
    const addresses = hosts.map(({ host, port }) => `${host}:${port}`).join(',');

    expect(cluster().url).toBe(`postgres://${user}:${password}@${addresses}/${database}`);
  });
});

describe('A cluster of other options', () => {
  const cluster = useOwnCluster({
    replicas: 1,
    maxConnections: 17,
    settings: { work_mem: '3MB', application_name: `it's` },
    database: 'user',
    user: 'boss',
  });

  it('has them on every host', async () => {
    const ask = `select current_user as user, current_database() as database,
      current_setting('max_connections') as connections, current_setting('work_mem') as memory,
      (select boot_val || reset_val from pg_settings where name = 'application_name') as name`;

    const answers = await Promise.all(cluster().hosts.map((host) => host.query(ask)));

    const expected = {
      user: 'boss',
      database: 'user',
      connections: '17',
      memory: '3MB',
      name: `it's`,
    };
    expect(answers.flat()).toEqual([expected, expected]);
  });

  it('has no host that starts once it was stopped', async () => {
    const { hosts } = cluster();

    await cluster().stop();

    for (const host of hosts) {
      const starting = host.start();
      await expect(starting).rejects.toBeInstanceOf(ClusterError);
      await expect(starting).rejects.toThrow(
        `${host.name} cannot start, as its cluster was stopped`,
      );
    }
  });
});

describe('A synchronous cluster', () => {
  const cluster = useOwnCluster({ synchronous: true });

  it('waits for every replica', async () => {
    const rows = await cluster().primary.query(
      'select application_name as name, sync_state from pg_stat_replication order by 1',
    );

    expect(rows).toEqual([
      { name: 'replica-1', sync_state: 'sync' },
      { name: 'replica-2', sync_state: 'sync' },
    ]);
  });

  it('holds a commit while a replica is hung', async () => {
    const [primary, replica] = cluster().hosts;
    replica?.hang();

    const commit = primary?.query('create table held (id int)');
    await until('the commit waits', 5_000, async () => {
      const ask = `select from pg_stat_activity where wait_event = 'SyncRep'`;
      return (await primary?.query(ask))?.length === 1;
    });
    replica?.wake();

    await expect(commit).resolves.toEqual([]);
  });

  it('has a promoted replica wait for nobody', async () => {
    await cluster().replicas[0]?.promote();

    await expect(cluster().primary.query('create table free (id int)')).resolves.toEqual([]);
  });
});

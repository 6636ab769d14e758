import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

describe('The client of an instance that splits', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  it('is one of Knex, and of its pg dialect', async () => {
    const db = await split();

    expect(db.client).toBeInstanceOf(knex.Client);
    expect(db.client.config.client).toBe('pg');
    expect(db.client.config.client.includes('pg')).toBe(true);
    expect(db.client.dialect).toBe('postgresql');
    expect(db.client.driverName).toBe('pg');
  });

  it('knows the version of the primary', async () => {
    const db = await split();
    const [row] = await cluster().primary.query<{ server_version: string }>('show server_version');

    expect(row?.server_version).toContain(db.client.version);
    expect(Number.parseFloat(db.client.version as string)).toBeGreaterThanOrEqual(9.2);
    await db.transaction(async (trx) => expect(trx.client.version).toBe(db.client.version));
    expect(db.withUserParams({}).client.version).toBe(db.client.version);
  });

  it('shows the settings of the primary, with the password out of sight', async () => {
    const { client } = await split();
    const { host, port, user, password, database } = cluster().connection();

    expect(client.connectionSettings).toMatchObject({ host, port, user, database });
    expect(client.connectionSettings.password).toBe(password);
    expect(Object.keys(client.connectionSettings as object)).not.toContain('password');
    expect(client.database()).toBe(database);
  });

  it('lends a connection of its pool to a readiness probe', async () => {
    const { client } = await split();

    const pending = client.pool.acquire();
    const connection = await pending.promise;
    const { rows } = await connection.query('select pg_is_in_recovery() as is_replica');

    expect(rows).toEqual([{ is_replica: false }]);
    expect([client.pool.numUsed(), client.pool.numFree()]).toEqual([1, 0]);
    await client.releaseConnection(connection);
    expect([client.pool.numUsed(), client.pool.numFree()]).toEqual([0, 1]);
    expect(client.pool.release(connection)).toBe(false);
  });

  it('counts what its pool has, and lets a probe give up', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });
    const { pool } = db.client;
    const holder = await db.transaction();
    const counters = (): unknown => [
      pool.min,
      pool.max,
      pool.numUsed(),
      pool.numFree(),
      pool.numPendingAcquires(),
      pool.numPendingCreates(),
    ];

    const pending = pool.acquire();
    expect(counters()).toEqual([0, 1, 1, 0, 1, 0]);
    pending.abort();

    await expect(pending.promise).rejects.toThrow('aborted');
    expect(counters()).toEqual([0, 1, 1, 0, 0, 0]);
    await holder.rollback();
    expect(counters()).toEqual([0, 1, 0, 1, 0, 0]);
  });

  it('tells listeners of its pool, until they are removed', async () => {
    const db = await split();
    const { pool } = db.client;
    const told: string[] = [];
    const listener = (): void => void told.push(`${pool.used.length} used`);
    pool.on('acquireSuccess', listener);

    await db('notes').insert({ rank: 1 });
    pool.removeListener('acquireSuccess', listener);
    await db('notes').insert({ rank: 1 });

    expect(told).toEqual(['1 used']);
    expect(pool.used).toEqual([]);
    expect(pool.free).toHaveLength(1);
  });

  it('takes a connection back twice without harm to whoever has it by then', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });
    const connection = (await db.client.acquireConnection()) as object;
    await db.client.releaseConnection(connection);
    const trx = await db.transaction();

    await db.client.releaseConnection(connection);

    expect(db.client.pool.numUsed()).toBe(1);
    await trx('notes').insert({ rank: 1 });
    await trx.rollback();
  });

  it('runs what is given a connection there, and never gives it back', async () => {
    const db = await split();
    const connection = (await db.client.acquireConnection()) as object;
    const pids: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      pids.push(
        (await db.raw('select pg_backend_pid() as pid').connection(connection)).rows[0].pid,
      );
    }
    expect(await db('here').connection(connection).pluck('host')).toEqual(['primary']);

    expect(new Set(pids).size).toBe(1);
    expect(db.client.pool.numUsed()).toBe(1);
    await db.client.releaseConnection(connection);
  });

  it('opens a transaction on a connection that it is given', async () => {
    const db = await split();
    const connection = (await db.client.acquireConnection()) as object;

    await db.transaction(async (trx) => trx('notes').insert({ rank: 5 }), {
      connection,
    } as Knex.TransactionConfig);

    expect(db.client.pool.numUsed()).toBe(1);
    await db.client.releaseConnection(connection);
  });

  it('runs all statements of one schema builder on one connection', async () => {
    const db = await split();
    const uids = new Set<unknown>();
    db.on('query', ({ __knexUid }) => uids.add(__knexUid));

    await db.schema
      .createTable('a', (t) => t.increments())
      .createTable('b', (t) => t.increments())
      .dropTable('a')
      .dropTable('b');

    expect(uids.size).toBe(1);
  });

  it('tells a host that refuses connections from a full pool', async () => {
    const db = await split();
    const dead = knex({
      ...db.client.config,
      client: db.client.constructor,
      connection: { ...cluster().connection(), port: 1 },
      log: { warn: () => undefined },
      rwSplit: { replicas: [], failover: { waitMillis: 50 } },
    });

    await expect(dead('here')).rejects.toMatchObject({
      name: 'NoHostAvailableError',
      message: expect.stringMatching(/unreachable \(.*ECONNREFUSED/),
    });
    await dead.destroy();
  });
});

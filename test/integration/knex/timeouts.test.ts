import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { useInstances } from '../../support/instances.ts';
import { useRecordingProxy } from '../../support/recording-proxy.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const slow = 'select pg_sleep(20), served_by()';
const pidAndHost = 'select served_by() as host';

describe('A query of a replica that exceeds its timeout', () => {
  const cluster = useRoutingDatabase(
    'create function my_pid() returns int stable language sql as $$ select pg_backend_pid() $$;',
  );
  const { split } = useInstances(cluster);
  const primaryProxy = useRecordingProxy(() => cluster().primary);

  /** One replica with one connection, and a primary of which everything is recorded. */
  async function one(): Promise<Knex> {
    const replicas = cluster()
      .replicas.slice(0, 1)
      .map(({ name, host, port }) => ({ name, host, port, pool: { max: 1 } }));
    const db = await split({
      connection: { ...cluster().connection(), port: primaryProxy().port },
      rwSplit: { replicas },
    });
    await db.raw(`${pidAndHost}, my_pid() as pid`);
    return db;
  }

  async function sleeping(): Promise<number> {
    const rows = await cluster().replicas[0]?.query(
      `select from pg_stat_activity where query like 'select pg_sleep(20)%' and state = 'active' and datname = current_database()`,
    );
    return rows?.length ?? -1;
  }

  const pidOf = async (db: Knex): Promise<unknown> =>
    (await db.raw(`${pidAndHost}, my_pid() as pid`)).rows[0];

  it('is cancelled there where cancel is asked for, and its connection goes on', async () => {
    const db = await one();
    const before = await pidOf(db);

    await expect(db.raw(slow).timeout(200, { cancel: true })).rejects.toMatchObject({
      name: 'KnexTimeoutError',
      message: 'Defined query timeout of 200ms exceeded when running query.',
      timeout: 200,
    });

    expect(await sleeping()).toBe(0);
    expect(before).toMatchObject({ host: 'replica-1' });
    expect(await pidOf(db)).toEqual(before);
  });

  it('cancels no query that follows it on the connection', async () => {
    const db = await one();
    const before = await pidOf(db);

    for (let i = 0; i < 5; i++) {
      await db.raw(slow).timeout(50, { cancel: true }).catch(String);
      const { rows } = await db.raw('select pg_sleep(0.05), served_by() as host');
      expect(rows).toMatchObject([{ host: 'replica-1' }]);
    }

    expect(await pidOf(db)).toEqual(before);
  });

  it('has nothing cancelled at the primary', async () => {
    const db = await one();

    await db.raw(slow).timeout(100, { cancel: true }).catch(String);
    await db.destroy();

    const sent = (await primaryProxy().recorded()).flat();
    expect(sent).toContainEqual(expect.stringContaining('startup'));
    // The question to the catalog names every function of this kind.
    const isCancel = /^cancel request|select pg_cancel_backend/i;
    expect(sent.filter((message) => isCancel.test(message))).toEqual([]);
  });

  it('is cancelled there, and nothing at the primary, while destroy() waits for it', async () => {
    const db = await one();

    const query = db.raw(slow).timeout(500, { cancel: true }).catch(String);
    await until('it runs', 5000, async () => (await sleeping()) === 1);
    await db.destroy();

    expect(await query).toContain('timeout of 500ms');
    await until('it is cancelled', 5000, async () => (await sleeping()) === 0);
    const sent = (await primaryProxy().recorded()).flat();
    expect(sent.filter((message) => /pg_cancel_backend|cancel request/.test(message))).toEqual([]);
  });

  it('has its connection replaced where it is not cancelled', async () => {
    const db = await one();
    const before = await pidOf(db);

    await expect(db.raw(slow).timeout(100)).rejects.toThrow('timeout of 100ms');
    // Its place is free before the query has ended.
    expect(rwSplit(db).hosts()[1]?.pool).toMatchObject({ used: 0, max: 1 });
    const after = await pidOf(db);

    expect(after).toMatchObject({ host: 'replica-1' });
    expect(after).not.toEqual(before);
    expect(await sleeping()).toBe(1);
    await cluster().replicas[0]?.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep(20)%' and datname = current_database() and pid <> pg_backend_pid()`,
    );
    await until('the query is gone', 5000, async () => (await sleeping()) === 0);
  });

  it('is cancelled in a transaction, which goes on failed', async () => {
    const db = await one();

    const done = db.transaction(
      async (trx) => {
        await trx.raw(slow).timeout(100, { cancel: true }).catch(String);
        await trx.raw('select 1');
      },
      { readOnly: true },
    );

    await expect(done).rejects.toMatchObject({ code: '25P02' });
    expect(await sleeping()).toBe(0);
  });

  it('of the primary is cancelled at the primary', async () => {
    const db = await one();

    await db
      .raw("select pg_sleep(20), nextval('notes_id_seq')")
      .timeout(100, { cancel: true })
      .catch(String);
    await db.destroy();

    const sent = (await primaryProxy().recorded()).flat();
    expect(sent.filter((message) => message.startsWith('cancel request'))).toHaveLength(1);
  });

  it('is waited for no longer than it takes, where others wait behind it', async () => {
    const db = await one();
    const connection = (await db.client.acquireConnection()) as object;

    const first = db
      .raw('select pg_sleep(20)')
      .connection(connection)
      .timeout(100, { cancel: true })
      .then(String, String);
    const second = db
      .raw('select pg_sleep(0.5)')
      .connection(connection)
      .then(() => 'second');

    expect(await Promise.race([first, second])).toContain('timeout of 100ms');
    expect(await second).toBe('second');
    const before = (await db.raw('select pg_backend_pid() as pid').connection(connection)).rows[0];
    await db.client.releaseConnection(connection);
    expect((await db.raw("select pg_backend_pid() as pid, nextval('notes_id_seq')")).rows).toEqual([
      expect.objectContaining(before),
    ]);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { awaitHost } from '../../support/await-host.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { machineMillis } from '../../support/outage.ts';

describe('A table that the replicas have yet to learn of', () => {
  const { cluster, hosts, warm } = useFailover({ isHealed: false });

  beforeAll(async () => {
    for (const replica of cluster().replicas) await replica.pauseReplay();
    await cluster().primary.query(
      'create table fresh (id int); alter table notes add column fresh text',
    );
  });

  /** Holds every connection of the primary until it is told to let go. */
  async function hold(db: Knex): Promise<() => Promise<void>> {
    const holders = [await db.transaction(), await db.transaction()];
    for (const holder of holders) await holder.raw('select 1');
    return async () => {
      await Promise.all(holders.map((holder) => holder.rollback()));
    };
  }

  const reads: [string, (db: Knex) => Knex.QueryBuilder][] = [
    ['a table', (db) => db('fresh')],
    ['a column', (db) => db('notes').select('fresh')],
  ];

  it.each(reads)('is read on the primary, whose pool is busy for a moment: %s', async (_, read) => {
    const { db, servers } = await warm({ pool: { max: 2 } });
    const letGo = await hold(db);
    servers();

    const reading = read(db).then((rows: unknown) => rows);
    await awaitHost(db, addressOf(hosts()[0]), ({ pool }) => pool.pending === 1);
    await letGo();

    expect(await reading).toEqual([]);
    expect(servers().at(0)).toMatch(/^replica/);
  });

  it.each(reads)('is unknown while the pool of the primary stays busy: %s', async (_, read) => {
    const { db } = await warm({ pool: { max: 2 } });
    const letGo = await hold(db);

    const begin = performance.now();
    await expect(read(db)).rejects.toMatchObject({ code: expect.stringMatching(/^42/) });

    expect(performance.now() - begin).toBeLessThan(1000 + machineMillis);
    await letGo();
  });
});

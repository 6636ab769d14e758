import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { eventually } from '../../support/eventually.ts';
import { inLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

// Whoever waits for a connection that is never given back fails by then.
const acquireConnectionTimeout = 3000;

const reads: readonly [name: string, (db: Knex, id: number) => PromiseLike<unknown[]>][] = [
  ['reads', (db, id) => db('notes').where({ id })],
  ['streams', (db, id) => db('notes').where({ id }).stream().toArray()],
  [
    'read-only transactions',
    (db, id) => db.transaction(async (trx) => trx('notes').where({ id }), { readOnly: true }),
  ],
];

describe('With small pools, and a replica that is late', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const split = useSplit(cluster);

  beforeAll(async () => {
    await createRoutingSchema(cluster());
  });

  /** An instance that takes the replica for one that is not late. */
  const warm = async (max: number, config?: Knex.Config): Promise<Knex> => {
    const { replicas } = cluster();
    await Promise.all(replicas.map(async (host) => host.resumeReplay()));
    await cluster().waitForReplay();
    const { db } = await split.warm({ pool: { min: 0, max }, acquireConnectionTimeout, ...config });
    await Promise.all(replicas.map(async (host) => host.pauseReplay()));
    return db;
  };
  const write = async (db: Knex): Promise<{ id: number; after: string | undefined }> =>
    rwSplit(db).session({}, async () => {
      const [{ id }] = await db('notes').insert({ rank: 1 }).returning('id');
      return { id, after: rwSplit(db).token() };
    });
  const primaryPool = (db: Knex) =>
    rwSplit(db)
      .hosts()
      .find(({ role }) => role === 'primary')?.pool;
  const reader = (db: Knex) => rwSplit(db).session({}, async () => db('here').pluck('host'));

  describe.each([1, ...inLong(2)])('of %i', (max) => {
    it.each(reads)(
      '%s that wait for the primary hold no connection of the replica',
      async (_, read) => {
        const db = await warm(max);
        const { id, after } = await write(db);
        const writers = await Promise.all(
          Array.from({ length: max }, async () => db.transaction()),
        );

        const stale = writers.map(() =>
          rwSplit(db).session({ after }, async () => (await read(db, id)).length),
        );
        await eventually(() => (primaryPool(db)?.pending ?? 0) > 0);
        // The transactions themselves may need it to go on.
        const others = await Promise.all(writers.map(() => reader(db)));
        await Promise.all(writers.map((trx) => trx.commit()));

        expect(others).toEqual(writers.map(() => ['replica-1']));
        expect(await Promise.all(stale)).toEqual(writers.map(() => 1));
        expect(
          rwSplit(db)
            .hosts()
            .map(({ consistency }) => consistency.stale),
        ).toEqual([0, max]);
      },
    );

    it('a read of a table that the replica lacks holds none either', async () => {
      const db = await warm(max);
      const table = `late_${max}`;
      await cluster().primary.query(`create table ${table} (id int)`);
      const writers = await Promise.all(Array.from({ length: max }, async () => db.transaction()));

      const failing = writers.map(() =>
        rwSplit(db).session({ consistency: 'eventual' }, async () => db(table).pluck('id')),
      );
      await eventually(() => (primaryPool(db)?.pending ?? 0) > 0);
      const others = await Promise.all(writers.map(() => reader(db)));
      await Promise.all(writers.map((trx) => trx.commit()));

      expect(others).toEqual(writers.map(() => ['replica-1']));
      expect(await Promise.all(failing)).toEqual(writers.map(() => []));
    });

    it('tokens of what was never written keep nobody waiting', async () => {
      const db = await warm(max);
      const { after } = await write(db);
      const far = after?.replace(/-[0-9a-f]+/, '-7fffffffffffffff');

      const forged = (['error', 'ignore'] as const).flatMap((invalidToken) =>
        Array.from({ length: 6 }, async () =>
          rwSplit(db)
            .session({ after: far, invalidToken }, async () => db('here').pluck('host'))
            .catch(({ code }: { code?: string }) => code),
        ),
      );
      const honest = Array.from({ length: 6 }, async () =>
        rwSplit(db).session({}, async () => {
          const { id } = await write(db);
          return (await db('notes').where({ id })).length;
        }),
      );

      expect(await Promise.all(honest)).toEqual(Array(6).fill(1));
      expect(await Promise.all(forged)).toEqual([
        ...Array(6).fill('RWSPLIT_TOKEN'),
        ...Array.from({ length: 6 }, () => ['primary']),
      ]);
    });
  });

  it('of one, a read on the primary that lost its connection runs again at once', async () => {
    const db = await warm(1);
    const begun = performance.now();

    const read = rwSplit(db).onPrimary(async () => db.raw('select pg_sleep(0.3)'));
    read.catch(() => undefined);
    await eventually(async () => {
      const ended = await cluster().primary.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where query = 'select pg_sleep(0.3)' and state = 'active'`,
      );
      return ended.length > 0;
    });

    expect((await read).rows).toHaveLength(1);
    expect(performance.now() - begun).toBeLessThan(acquireConnectionTimeout);
  });

  it.each(['primary', 'replica'] as const)(
    'of one, a read on the %s that took too long for the driver keeps nobody waiting',
    async (target) => {
      const connection = { ...cluster().connection(), query_timeout: 200 };
      const db = await warm(1, { connection, rwSplit: { replicas: replicasOf(cluster()) } });
      const begun = performance.now();

      const slow = db.raw('select pg_sleep(0.6)').queryContext({ rwSplit: { target } });

      await expect(slow).rejects.toThrow('Query read timeout');
      await expect(db('here').pluck('one')).resolves.toEqual([1]);
      await expect(write(db)).resolves.toMatchObject({ id: expect.any(Number) });
      expect(performance.now() - begun).toBeLessThan(acquireConnectionTimeout);
    },
  );
});

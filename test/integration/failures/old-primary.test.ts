import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { NoHostAvailableError, rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { inLong } from '../../support/long.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

describe('A primary beside which another one is promoted', () => {
  const { hosts, cold, warm } = useFailover();

  const fenced = async (db: Knex): Promise<void> => {
    const isOld = ({ reason }: { reason?: string | undefined }): boolean =>
      /old primary/.test(reason ?? '');
    await awaitHost(db, addressOf(hosts()[0]), isOld);
  };

  it.each(['end', ...inLong('stay')])(
    'runs no write that waits for a connection of it, whose transactions %s',
    async (what) => {
      const [first, second] = hosts();
      const { db, servers } = await warm({ pool: { max: 2 } });
      const holders = [await db.transaction(), await db.transaction()];
      for (const holder of holders) await holder('notes').count();
      servers();
      const bodies = Array.from({ length: 10 }, (_, n) => `${what} ${n}`);
      const writing = Promise.all(bodies.map((body) => insert(db, body)));
      await awaitHost(db, addressOf(first), ({ pool }) => pool.pending === bodies.length);

      await second.promote();
      await fenced(db);
      const endAll = async (): Promise<void> => {
        for (const holder of holders) await holder.rollback().catch(() => undefined);
      };
      if (what === 'end') await endAll();
      await writing;

      expect(servers().filter((name) => name === 'replica-1')).toHaveLength(bodies.length);
      const written = 'select from notes where body = any($1)';
      expect(await first.query(written, [bodies])).toEqual([]);
      expect(await second.query(written, [bodies])).toHaveLength(bodies.length);
      await endAll();
    },
  );

  it('acknowledges nothing of before when it wakes, which was taken for down', async () => {
    const [first, second] = hosts();
    const { db, servers } = await warm({ rwSplit: { health: { hangMillis: 60_000 } } });
    let goOn = (): void => undefined;
    const awake = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = db.raw("insert into notes (body) select 'in flight' from pg_sleep(0.5)");
    const writing = errorOf(slow);
    const committing = errorOf(
      db.transaction(async (trx) => {
        await insert(trx, 'not committed');
        await awake;
      }),
    );
    await eventually(async () => {
      const text =
        "select from pg_stat_activity where wait_event = 'PgSleep' or state = 'idle in transaction'";
      return (await first.query(text)).length === 2;
    });

    first.hang();
    await awaitHost(db, addressOf(first), ({ state }) => state === 'down');
    await second.promote();
    servers();
    await insert(db, 'on the promoted one');
    first.wake();
    goOn();

    expect(await writing).toMatchObject({ rwSplit: { outcome: 'unknown' } });
    expect(await committing).toBeInstanceOf(Error);
    expect(servers()[0]).toBe('replica-1');
  });

  it('serves not even those who name it, once it is fenced', async () => {
    const [first, second] = hosts();
    const { db } = await warm({ rwSplit: { failover: { waitMillis: 300 } } });
    await second.promote();
    await fenced(db);
    const onIt = { rwSplit: { host: addressOf(first) } };

    const errors = [
      await errorOf(insert(db, 'hinted').queryContext(onIt)),
      await errorOf(db('notes').count().queryContext(onIt)),
    ];

    for (const error of errors) expect(error).toBeInstanceOf(NoHostAvailableError);
    expect(await first.query("select from notes where body = 'hinted'")).toEqual([]);
  });

  it("is as good as any other for target 'any'", async () => {
    const [first, second, third] = hosts();
    await second.promote();
    const replicas = [second, third].map(({ name, host, port }) => ({ name, host, port }));
    const { db, servers } = cold({
      connection: first.connection,
      rwSplit: { target: 'any', replicas },
    });
    await rwSplit(db).checkNow();

    for (let n = 0; n < 12; n++) await db('notes').count();
    await db('notes')
      .count()
      .queryContext({ rwSplit: { host: addressOf(first) } });

    expect(new Set(servers().slice(0, -1))).toEqual(new Set(['primary', 'replica-1', 'replica-2']));
    expect(rwSplit(db).hosts()[0]).toMatchObject({ state: 'up', reason: undefined });
  });
});

async function errorOf(work: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(work).then(
    () => 'no error',
    (error: unknown) => error,
  );
}

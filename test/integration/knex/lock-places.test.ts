import { describe, expect, it } from '@jest/globals';
import { until } from '../../../lib/testing/until.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

interface Answer {
  readonly rows: readonly { readonly ok: boolean }[];
}

describe('Advisory locks of a small pool', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  async function locks(): Promise<number> {
    const [row] = await cluster().primary.query<{ count: number }>(
      `select count(*)::int from pg_locks join pg_database d on d.oid = database
        where locktype = 'advisory' and granted and datname = current_database()`,
    );
    return row?.count ?? -1;
  }

  it('are answered however many ask for one key, and granted once', async () => {
    const db = await split({ pool: { min: 0, max: 2 } });

    const answers: Answer[] = await Promise.all(
      Array.from({ length: 6 }, async () => db.raw('select pg_try_advisory_lock(4711) as ok')),
    );

    expect(answers.filter(({ rows }) => rows[0]?.ok)).toHaveLength(1);
    await db.raw('select pg_advisory_unlock_all()');
    expect(await locks()).toBe(0);
  });

  it('are given back, by the next statement too, where a stream of unlocks is closed early', async () => {
    const db = await split();
    await db.raw('select pg_advisory_lock(6)');
    const unlocks = db.raw(
      'select g, case g when 1 then pg_advisory_unlock(6) end from generate_series(1, 200000) g',
    );

    for await (const row of unlocks.stream()) if (row !== undefined) break;
    await db.raw('select pg_advisory_lock(7)');
    const { rows }: Answer = await db.raw('select pg_advisory_unlock(7) ok');

    expect(rows).toEqual([{ ok: true }]);
    await until('no lock is left', 5000, async () => (await locks()) === 0);
  });

  it('are given back by schema.raw', async () => {
    const db = await split();
    await db.raw('select pg_advisory_lock(8)');

    await db.schema.raw('select pg_advisory_unlock(8)');

    expect(await locks()).toBe(0);
  });

  it('taken in a transaction that is left open by hand end with its connection', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });
    const connection: object = await db.client.acquireConnection();
    for (const text of [
      'begin',
      'select pg_advisory_lock(5)',
      'insert into notes (rank) values (1)',
    ]) {
      await db.raw(text).connection(connection);
    }
    await db.client.releaseConnection(connection);

    await db('notes').insert({ rank: 2 });

    const rows = await cluster().primary.query('select rank from notes');
    expect(rows).toEqual([{ rank: 2 }]);
    expect(await locks()).toBe(0);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { eventually } from '../../support/eventually.ts';
import type { PoolMode } from '../../support/pgbouncer.ts';
import { poolerWays } from '../../support/pooler-ways.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

const aName = /rw_[0-9a-f]{32}/g;

const ways = poolerWays.flatMap((way) =>
  (['transaction', 'session'] as const).map((mode: PoolMode) => ({
    ...way,
    mode,
    isLossy: way.shares && mode === 'transaction',
  })),
);

describe.each(ways)('Named statements behind $title, its mode $mode', ({ use, mode, isLossy }) => {
  const cluster = useRoutingDatabase();
  const pooler = use(cluster, mode);
  const splits = useSplit(cluster);

  const rowOf = async (db: Knex, value: number): Promise<unknown> => {
    const { rows } = await db.raw(`select ?::int as value, ${value % 5} as kind`, [value]);
    return rows[0];
  };

  it('answer as they do without a pooler, and are given up where they are lost', async () => {
    const { db } = await splits.warm(pooler.config({ prepare: { max: 3 } }));
    const errors: unknown[] = [];
    db.on('query-error', (error) => errors.push(error));
    const values = Array.from({ length: 40 }, (_, value) => value);

    const isGivenUp = (): boolean =>
      rwSplit(db)
        .hosts()
        .filter(({ role }) => role === 'replica')
        .every(({ keepsPrepared }) => keepsPrepared === !isLossy);
    await eventually(async () => {
      const rows = await Promise.all(values.map((value) => rowOf(db, value)));
      expect(rows).toEqual(values.map((value) => ({ value, kind: value % 5 })));
      expect(isGivenUp()).toBe(true);
    });
    pooler.sent(aName);
    await Promise.all(values.map((value) => rowOf(db, value)));

    expect(pooler.sent(aName).length > 0).toBe(!isLossy);
    for (let rank = 1; rank <= 5; rank++) {
      // oxlint-disable-next-line no-await-in-loop -- each read follows its own write.
      await db('notes').insert({ body: `pair ${rank}`, rank });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await db('notes').where({ rank }).pluck('body')).toEqual([`pair ${rank}`]);
    }
    expect(errors).toEqual([]);
  });
});

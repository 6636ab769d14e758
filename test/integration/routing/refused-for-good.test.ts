import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { MisrouteEvent } from '../../../lib/index.ts';
import { hidden, hiddenWrites } from '../../support/hidden-writes.ts';
import { untilIdle } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

describe('An error of a replica', () => {
  const cluster = useRoutingDatabase(hiddenWrites);
  const split = useSplit(cluster, 'eventual');

  const watch = (db: Knex): MisrouteEvent[] => {
    const events: MisrouteEvent[] = [];
    rwSplit(db).on('misroute', (event) => events.push(event));
    return events;
  };

  it('stands where the stream has begun to give rows', async () => {
    const { db, servers } = await split.warm();
    const misroutes = watch(db);
    const late = db
      .from(db.raw('generate_series(1, 5000) as i'))
      .select(db.raw('i, case when i = 5000 then writes() end as n'));
    let rows = 0;

    const reading = (async () => {
      for await (const row of late.stream({ batchSize: 10 })) rows += Number(row !== undefined);
    })();

    await expect(reading).rejects.toMatchObject({ code: '25006' });
    expect(rows).toBeGreaterThan(0);
    await untilIdle(db);
    expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
    expect(misroutes).toEqual([]);
  });

  it('stands inside a read-only transaction', async () => {
    const { db, servers } = await split.warm();
    const misroutes = watch(db);

    const outcome = db.transaction(async (trx) => hidden(trx).select(), { readOnly: true });

    await expect(outcome).rejects.toMatchObject({ code: '25006' });
    expect(new Set(servers())).toHaveProperty('size', 1);
    expect(misroutes).toEqual([]);
  });

  it("stands with target 'replica'", async () => {
    const { db, servers } = await split.warm({ rwSplit: { target: 'replica' } });
    const misroutes = watch(db);

    await expect(hidden(db).select()).rejects.toMatchObject({ code: '25006' });
    expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
    expect(misroutes).toEqual([]);
  });

  it('stands when no primary is there to run the statement', async () => {
    const { db } = await split.warm();
    const { host, port } = cluster().primary;
    await hidden(db).count();
    await rwSplit(db).drain(`${host}:${port}`);

    await expect(hidden(db).select()).rejects.toMatchObject({ code: '25006' });
  });

  it.each([
    ['0A000', 'a feature that no server has, as a cached plan whose result type changed'],
    ['55000', 'a state that has nothing to do with recovery'],
    ['22012', 'a division by zero'],
    ['40001', 'a serialization failure'],
    ['57014', 'a cancelled statement'],
  ])('stands for %s: %s', async (code) => {
    const { db, servers } = await split.warm();
    const misroutes = watch(db);
    const queries = await statementsOnPrimary();

    await expect(db.raw('select raises(?)', [code])).rejects.toMatchObject({ code });

    expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
    expect(misroutes).toEqual([]);
    expect(await statementsOnPrimary()).toBe(queries);
  });

  // Of the text, as the primary itself counted it.
  async function statementsOnPrimary(): Promise<number> {
    const [row] = await cluster().primary.query<{ calls: string }>(
      `select coalesce(sum(calls), 0) as calls from pg_stat_statements
         where query like 'select raises(%' and dbid = (select oid from pg_database where datname = current_database())`,
    );
    return Number(row?.calls);
  }
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { untilIdle, useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

type Run = (query: Knex.Raw) => Promise<unknown>;

const ways: [string, Run][] = [
  ['read to its end', async (query) => query.stream().toArray()],
  [
    'given to a handler',
    async (query) =>
      query.stream((rows) => {
        rows.resume();
      }),
  ],
];

describe.each(ways)('A stream of a transaction, %s,', (_, run) => {
  const cluster = useRoutingDatabase();
  const { split, warnings } = useInstances(cluster);

  it('that changes its session has the connection replaced', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });

    await db.transaction(async (trx) =>
      run(trx.raw("select set_config('application_name', 'changed', false)")),
    );
    await untilIdle(db);

    const { rows } = await db.raw(
      "select current_setting('application_name') as name, txid_current()",
    );
    expect(rows).toMatchObject([{ name: '' }]);
    expect(warnings()).toEqual([expect.stringContaining('changed the state')]);
  });

  it('that takes a lock has the connection kept', async () => {
    const [one, two] = [await split(), await split()];
    const tryLock = 'select pg_try_advisory_lock(7) as is_mine';

    await one.transaction(async (trx) => run(trx.raw('select pg_advisory_lock(7)')));

    expect(one.client.pool.numUsed() + one.client.pool.numFree()).toBe(0);
    expect((await two.raw(tryLock)).rows).toEqual([{ is_mine: false }]);
    expect((await one.raw('select pg_advisory_unlock(7) as is_free')).rows).toEqual([
      { is_free: true },
    ]);
  });
});

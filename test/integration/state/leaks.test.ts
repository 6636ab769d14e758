import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { untilIdle } from '../../support/instances.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { outcomeOf } from '../../support/tenant-incidents.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { tenantWays } from '../../support/tenant-ways.ts';
import { useTenants } from '../../support/tenants.ts';

type Run<T> = (tenant: Knex) => PromiseLike<T>;

// On one of them, what has no state of its own has that of the option.
const targets = [
  ['primary', true],
  ['replica', false],
] as const;

describe('The state of one tenant', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 3);
  const splits = useSplit(cluster);
  const [one = '', other = '', third = ''] = tenants.names;

  const withState = async <T>(db: Knex, name: string, run: Run<T>): Promise<T> =>
    run(rwSplit(db).withState(tenants.state(name)));
  const inState = async <T>(db: Knex, name: string, run: Run<T>): Promise<T> =>
    rwSplit(db).inState(tenants.state(name), async () => run(db));

  it.each(
    targets.flatMap(([target, nobody]) =>
      tenantWays.map(([name, outcome, way]) => [name, target, nobody, outcome, way] as const),
    ),
  )('does not leak by %s, on a %s', async (_, target, isStateless, outcome, way) => {
    const nobody = isStateless ? undefined : third;
    const db = start(target, nobody);
    const happen = async (run: Promise<unknown>): Promise<void> => {
      const expected =
        typeof outcome === 'string' ? outcome : outcome[target === 'primary' ? 0 : 1];
      expect(await outcomeOf(run)).toMatch(new RegExp(`^(?:${expected})$`));
      await untilIdle(db);
    };

    await withState(db, other, viewQuery);
    await happen(withState(db, one, way));
    expect(await withState(db, one, viewQuery)).toEqual([viewOf(one)]);

    await happen(inState(db, one, way));
    expect(await inState(db, other, viewQuery)).toEqual([viewOf(other)]);
    expect(await leftBehind(db)).toEqual(began(nobody));

    await happen(nobody === undefined ? withState(db, one, way) : Promise.resolve(way(db)));
    expect(await leftBehind(db)).toEqual(began(nobody));
  });

  function start(target: 'primary' | 'replica', nobody: string | undefined): Knex {
    const [replica] = replicasOf(cluster());
    if (replica === undefined) throw new Error('The cluster has a replica.');
    const state = nobody === undefined ? undefined : tenants.state(nobody);
    return splits.cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { target, replicas: [replica], consistency: 'eventual', state },
      pool: { max: 1 },
    }).db;
  }

  function began(name: string | undefined): unknown {
    return {
      session: tenants.login.user,
      role: name ?? tenants.login.user,
      setting: name ?? '',
      path: name === undefined ? '"$user", public' : `"${name}", "app"`,
      wait: '0',
      zone: expect.stringMatching(/^(?!Asia)/),
      readOnly: 'off',
      left: 0,
    };
  }
});

async function leftBehind(db: Knex): Promise<unknown> {
  const { rows } = await db.raw(`
    select session_user as session, current_user as role,
      coalesce(current_setting('app.tenant', true), '') as setting,
      current_setting('search_path') as path,
      current_setting('lock_timeout') as wait,
      current_setting('timezone') as zone,
      current_setting('default_transaction_read_only') as "readOnly",
      (select count(*) from pg_listening_channels())::int +
        (select count(*) from pg_prepared_statements where from_sql)::int +
        (select count(*) from pg_cursors where is_holdable)::int +
        (to_regclass('pg_temp.whose') is not null)::int +
        (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())::int
        as left`);
  return rows[0];
}

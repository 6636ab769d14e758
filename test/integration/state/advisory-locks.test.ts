import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { useTenants } from '../../support/tenants.ts';

describe('An advisory lock taken in a tenant’s state', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 2);
  const splits = useSplit(cluster);

  it('is kept and given back, whoever does so, and its connection leaks nothing', async () => {
    const { db } = splits.cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { replicas: replicasOf(cluster()), target: 'primary' },
      pool: { max: 1 },
    });
    const [one = '', other = ''] = tenants.names;
    const of = (name: string): Knex => rwSplit(db).withState(tenants.state(name));
    const locks = async (): Promise<number> =>
      (await cluster().primary.query("select 1 from pg_locks where locktype = 'advisory'")).length;

    await of(one).raw('select pg_advisory_lock(55)');
    expect(await viewQuery(of(other))).toEqual([viewOf(other)]);
    expect(await locks()).toBe(1);

    const { rows } = await of(other).raw(
      'select pg_advisory_unlock(55) as ok, current_user as role',
    );
    expect(rows).toEqual([{ ok: true, role: other }]);
    expect(await locks()).toBe(0);
    expect(await viewQuery(of(one))).toEqual([viewOf(one)]);
    expect(await viewQuery(of(other))).toEqual([viewOf(other)]);
  });
});

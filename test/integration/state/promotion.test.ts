import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { eventually } from '../../support/eventually.ts';
import { useFailover } from '../../support/failover.ts';
import { machineMillis } from '../../support/outage.ts';
import { replicasOf } from '../../support/split.ts';
import { outcomeOf, tenantIncidents } from '../../support/tenant-incidents.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { tenantWays } from '../../support/tenant-ways.ts';
import { useTenants } from '../../support/tenants.ts';
import { untilWritable } from '../../support/until-writable.ts';

describe('Tenants over a promotion', () => {
  const { cluster, hosts, cold } = useFailover();
  const tenants = useTenants(cluster, 20);

  it('see and write their own, and no one else’s', async () => {
    const [first, second] = hosts();
    const { db } = cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { replicas: replicasOf(cluster()) },
      pool: { max: 3 },
    });
    const of = (name: string): Knex => rwSplit(db).withState(tenants.state(name));
    const wrong: unknown[] = [];
    let written = 0;
    let turns = 0;
    const end = new AbortController();

    const turn = async (name: string): Promise<void> => {
      const tenant = of(name);
      const [, , , incident] = tenantIncidents[turns++ % (3 * tenantIncidents.length)] ?? [];
      if (incident !== undefined) await Promise.allSettled([incident(tenant)]);
      for (const view of await viewQuery(tenant)) {
        if (JSON.stringify(view) !== JSON.stringify(viewOf(name))) wrong.push([name, view]);
      }
      const [item] = await tenant('items').insert({ tenant: name }, '*');
      written++;
      if (item?.tenant !== name) wrong.push([name, item]);
    };
    const load = tenants.names.map(async (name) => {
      while (!end.signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other.
        const [outcome] = await Promise.allSettled([turn(name)]);
        if (outcome?.status === 'rejected' && outcome.reason.code === 'RWSPLIT_STATE') {
          wrong.push(outcome.reason);
        }
      }
    });

    await sleep(300);
    await first.kill();
    const promotion = second.promote();
    await untilWritable(second);
    await promotion;
    const before = written;
    await eventually(() => written > before + tenants.names.length, {
      withinMillis: machineMillis,
    });
    end.abort();
    await Promise.all(load);

    expect(wrong).toEqual([]);
    const [row] = await second.query(
      'select count(*)::int as strangers from app.items i where not exists (select from app.notes n where n.tenant = i.tenant)',
    );
    expect(row).toEqual({ strangers: 0 });
  });

  it('leave nothing to each other on the sessions that outlive it, whatever they do', async () => {
    const [first, second] = hosts();
    const { db } = cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { replicas: replicasOf(cluster()), consistency: 'eventual' },
      pool: { max: 2 },
    });
    const of = (name: string): Knex => rwSplit(db).withState(tenants.state(name));
    const [one = '', other = ''] = tenants.names;
    const wrong: unknown[] = [];
    const all = async (): Promise<void> => {
      for (const [name, , way] of tenantWays) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, on the same sessions.
        await outcomeOf(Promise.resolve(way(of(one))));
        // oxlint-disable-next-line no-await-in-loop -- as above.
        const views = await viewQuery(of(other));
        if (JSON.stringify(views) !== JSON.stringify([viewOf(other)])) wrong.push([name, views]);
      }
    };

    await all();
    await first.kill();
    await second.promote();
    await untilWritable(second);
    await eventually(async () => of(other)('items').insert({ tenant: other }), {
      withinMillis: machineMillis,
    });
    await all();

    expect(wrong).toEqual([]);
  });
});

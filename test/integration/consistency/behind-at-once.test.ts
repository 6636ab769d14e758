import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { eventually } from '../../support/eventually.ts';
import { useInstances } from '../../support/instances.ts';
import { machineMillis } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { whilePaused } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { learnStalledRead, stalledProcesses, stalledRead } from '../../support/stalled-read.ts';

// Who may read and write, and is not told on which timeline a replica is.
const schema = `
  create role humble login password 'humble';
  grant usage on schema public to humble;
  grant all on all tables in schema public to humble;
  revoke execute on function pg_control_checkpoint() from public;
  insert into notes (body, rank) values ('divisor', 0);
`;

describe('A read that finds its replica behind', () => {
  const cluster = useOwnCluster();
  const { split } = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster(), schema));

  const refusals = (db: Knex): number =>
    rwSplit(db)
      .hosts()
      .reduce((sum, { consistency }) => sum + consistency.stale, 0);

  it('does not wait for what the replica makes of it, and has it cancelled there', async () => {
    const db = await split();
    await learnStalledRead(db);
    const names = cluster().replicas.map(({ name }) => name);

    const [hosts, millis] = await whilePaused(cluster(), async () =>
      rwSplit(db).session({}, async () => {
        await db('notes').insert({ rank: 1 });
        const start = performance.now();
        const rows = await stalledRead(db, names);
        return [rows, performance.now() - start];
      }),
    );

    expect(hosts).toEqual([{ host: 'primary' }]);
    expect(refusals(db)).toBeGreaterThan(0);
    expect(millis).toBeLessThan(machineMillis);
    await eventually(async () => {
      const stalled = await Promise.all(cluster().replicas.map(stalledProcesses));
      return stalled.flat().length === 0;
    });
  });

  it('knows nothing of an error that old data made, even where the check is refused', async () => {
    const db = await split({
      connection: { ...cluster().connection(), user: 'humble', password: 'humble' },
    });
    const divide = async (): Promise<unknown> =>
      db('notes').where({ body: 'divisor' }).select(db.raw('10 / rank as quotient'));

    const found = await whilePaused(cluster(), async () =>
      rwSplit(db).session({}, async () => {
        await db('notes').where({ body: 'divisor' }).update({ rank: 5 });
        return [await divide(), await divide()];
      }),
    );

    expect(found).toEqual([[{ quotient: 2 }], [{ quotient: 2 }]]);
    expect(refusals(db)).toBeGreaterThan(0);
  });

  it('says nothing of a replica by a token that was made up', async () => {
    const db = await split();
    await db('here').select('host');
    const token = await rwSplit(db).session({}, async () => {
      await db('notes').insert({ rank: 1 });
      return rwSplit(db).token();
    });
    const forged = token?.replace(/^((?:[^.]*\.){2}1-)[^.]*/, '$17fffffffffffffff');
    const hosts: unknown[] = [];

    for (let i = 0; i < 3; i++) {
      let begin: (() => void) | undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      // It is older than the session beside it, and its position can't be reached.
      const beside = rwSplit(db).session({ after: forged, invalidToken: 'ignore' }, async () => {
        await begun;
        return db('here').pluck('host');
      });
      await rwSplit(db).session({}, async () => {
        await db('notes').insert({ rank: 1 });
        await cluster().waitForReplay();
        begin?.();
        expect(await beside).toEqual(['primary']);
        hosts.push(...(await db('here').pluck('host')));
      });
    }

    expect(hosts).toEqual(Array(3).fill(expect.stringMatching(/^replica/)));
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { Served } from '../../support/load-report.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { useSplit } from '../../support/split.ts';
import { startLoad } from '../../support/steady-load.ts';

const loadMillis = 2000;

describe('Replicas that replay at once', () => {
  const cluster = useOwnCluster();
  const split = useSplit(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));

  const open = async (): Promise<Knex> => {
    const { db } = await split.warm({ pool: { min: 0, max: 10 } });
    // The name is looked up once, for which a busy machine may take too long.
    await db('here').select('host');
    return db;
  };

  it('serve 90 % of the reads that come 50 ms after the last write of their session', async () => {
    const db = await open();
    const servers = await Promise.all(
      Array.from({ length: 20 }, async (_, worker) => {
        await sleep(worker * 5);
        return rwSplit(db).session({}, async () => readAfterWrites(db, 20));
      }),
    );

    expect(shareOfReplicas(tally(servers.flat()))).toBeGreaterThanOrEqual(0.9);
  });

  it('serve 80 % of the reads of a client without scopes that writes 20 times a second', async () => {
    const db = await open();
    const load = startLoad(db, { readsPerSecond: 200, writesPerSecond: 20 });
    await sleep(loadMillis);
    const { reads, writes } = await load.stop();

    expect([reads, writes]).toMatchObject([
      { failed: 0, unanswered: 0 },
      { failed: 0, unanswered: 0, served: { primary: expect.any(Number) } },
    ]);
    expect(shareOfReplicas(reads.served)).toBeGreaterThanOrEqual(0.8);
  });

  it.each<[string, <T>(db: Knex, fn: () => Promise<T>) => Promise<T>]>([
    ['in sessions of their own', async (db, fn) => rwSplit(db).session({}, fn)],
    ['outside of any session', async (_, fn) => fn()],
  ])(
    'serve 95 %% of the reads of sessions that have not written, whatever others write %s',
    async (_, write) => {
      const db = await open();
      const load = startLoad(db, {
        readsPerSecond: 200,
        writesPerSecond: 200,
        read: async () =>
          rwSplit(db).session({}, async () => db('notes').select(server(db)).limit(1)),
        write: async (__, n) =>
          write(db, async () => db('notes').insert({ rank: n }).returning(server(db))),
      });
      await sleep(loadMillis);
      const { reads, writes } = await load.stop();

      expect(writes.answered).toBeGreaterThan(200);
      expect(reads.failed).toBe(0);
      expect(shareOfReplicas(reads.served)).toBeGreaterThanOrEqual(0.95);
    },
  );
});

function server(db: Knex): Knex.Raw {
  return db.raw('served_by() as server');
}

/** Who served the reads of a session that each come a while after a write. */
async function readAfterWrites(db: Knex, times: number): Promise<string[]> {
  const servers: string[] = [];
  for (let n = 0; n < times; n++) {
    const [row] = await db('notes').insert({ rank: n }).returning('id');
    await sleep(50);
    const rows: { server: string }[] = await db('notes').select(server(db)).where({ id: row.id });
    servers.push(...rows.map((found) => found.server));
  }
  expect(servers.length).toBe(times);
  return servers;
}

function tally(servers: readonly string[]): Served {
  const served: Record<string, number> = {};
  for (const name of servers) served[name] = (served[name] ?? 0) + 1;
  return served;
}

function shareOfReplicas(served: Served): number {
  const all = Object.values(served).reduce((sum, count) => sum + count, 0);
  return 1 - (served['primary'] ?? 0) / all;
}

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { type Host, rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { untilIdle, useInstances } from '../../support/instances.ts';
import { quickHealth, untilEven } from '../../support/outage.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { replicasOf } from '../../support/split.ts';
import { learnStalledRead, stalledRead, untilStalled } from '../../support/stalled-read.ts';
import { startLoad } from '../../support/steady-load.ts';

describe('A function that names the replicas', () => {
  const cluster = useRoutingDatabase();
  const instances = useInstances(cluster);
  let both: [Host, Host];

  beforeAll(() => {
    both = replicasOf(cluster()) as [Host, Host];
  });

  const open = async (replicas: () => Promise<Host[]>): Promise<Knex> =>
    instances.split({
      rwSplit: { replicas, discovery: { intervalMillis: 100 }, health: quickHealth },
    });

  const names = (db: Knex): string[] =>
    rwSplit(db)
      .hosts()
      .slice(1)
      .map(({ name }) => name);

  it('adds a host at run time, which gets its share', async () => {
    let list = both.slice(0, 1);
    const db = await open(async () => list);
    const load = startLoad(db, { readsPerSecond: 150, writesPerSecond: 50 });

    list = both;
    await awaitHost(db, 'replica-2', ({ state }) => state === 'up');
    await untilEven(load);
    const { reads, writes } = await load.stop();

    expect(reads).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    expect(writes).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
  });

  it('takes a host out, and lets what runs on it end', async () => {
    let list = both;
    const db = await open(async () => list);
    const slow = db('here').select('host').whereRaw('pg_sleep(2) is not null');
    const running = slow
      .queryContext({ rwSplit: { host: 'replica-2' } })
      .then((rows: unknown) => rows);
    const load = startLoad(db, { readsPerSecond: 150, writesPerSecond: 50 });
    const [, gone] = cluster().replicas as [TestHost, TestHost];
    await untilAsleep(gone);

    list = [both[0]] as unknown as typeof both;
    await eventually(() => names(db).length === 1);
    const from = load.now();
    expect(await running).toEqual([{ host: 'replica-2' }]);
    const { reads, writes } = await load.stop();

    expect(reads).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    expect(writes).toMatchObject({ failed: 0, unanswered: 0, errors: [] });
    // What was on its way then has long been answered.
    expect(reads.spread(from + 300, Number.POSITIVE_INFINITY)).not.toHaveProperty('replica-2');
    await eventually(async () => (await sessionsOf(gone)) === 0);
  });

  it('takes a host back that it left out for a while', async () => {
    let list = both;
    const db = await open(async () => list);
    list = [both[0]] as unknown as typeof both;
    await eventually(() => names(db).length === 1);

    list = both;
    await awaitHost(db, 'replica-2', ({ state }) => state === 'up');

    const reads = Array.from({ length: 6 }, async () => db('here').select('host'));
    const rows = await Promise.all(reads);
    expect(new Set(rows.flat().map(({ host }: { host: string }) => host))).toContain('replica-2');
  });

  it.each([
    ['fails', async (): Promise<Host[]> => Promise.reject(new Error('the directory is away'))],
    ['names no host', async (): Promise<Host[]> => []],
    ['names what is no host', async (): Promise<Host[]> => [{ port: -1 }]],
  ])('keeps its last hosts when it %s, and goes on asking', async (_, fail) => {
    let answer = async (): Promise<Host[]> => both;
    const db = await open(async () => answer());
    const failures: string[] = [];
    rwSplit(db).on('discovery:error', ({ error }) => failures.push(error.message));

    answer = fail;
    await eventually(() => failures.length >= 2);
    expect(names(db)).toEqual(['replica-1', 'replica-2']);
    expect(await db('here').select('host')).toMatchObject([
      { host: expect.stringMatching(/^replica-/) },
    ]);

    answer = async () => both.slice(1);
    await eventually(() => names(db).length === 1);
    expect(names(db)).toEqual(['replica-2']);
  });

  it('may name the primary among the replicas, which serves no read for that', async () => {
    const { host, port } = cluster().primary;
    const db = await open(async () => [{ host, port, name: 'leader' }, both[0]]);

    const served = await Promise.all(
      Array.from({ length: 6 }, async () => db('here').select('host')),
    );
    await db('notes').insert({ rank: 1 });

    expect(new Set(served.flat().map((row: { host: string }) => row.host))).toEqual(
      new Set(['replica-1']),
    );
  });

  it('fails no read that runs on a host when it is left out and lost', async () => {
    let list = both;
    const db = await open(async () => list);
    await learnStalledRead(db);
    await rwSplit(db).drain('replica-1');
    const read = stalledRead(db, ['replica-2']).then((rows) => rows);
    const [, gone] = cluster().replicas as [TestHost, TestHost];
    await untilStalled(gone);
    rwSplit(db).readmit('replica-1');

    list = [both[0]] as unknown as typeof both;
    await eventually(() => names(db).length === 1);
    await gone.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()",
    );

    expect(await read).toEqual([{ host: 'replica-1' }]);
    await untilIdle(db);
  });
});

/** How many sessions others have in the test's own database. */
async function untilAsleep(host: TestHost): Promise<void> {
  await eventually(async () => {
    const text =
      "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
    return (await host.query(text)).length > 0;
  });
}

async function sessionsOf(host: TestHost): Promise<number> {
  const rows = await host.query(
    'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  return rows.length;
}

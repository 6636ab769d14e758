import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { type RWSplitEvents, type RWSplitOptions, rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { useInstances } from '../../support/instances.ts';
import { inLong } from '../../support/long.ts';
import { quickHealth } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';

type Step = (host: TestHost) => Promise<void>;

describe('A replica that falls behind', () => {
  const cluster = useOwnCluster();
  const instances = useInstances(cluster);
  const health = { ...quickHealth, intervalMillis: 100 };

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => healCluster(cluster()));

  const late = (): TestHost => cluster().replicas[0] as TestHost;

  const limited = async (maxLag: RWSplitOptions['maxLag']): Promise<Knex> =>
    instances.split({ rwSplit: { consistency: 'eventual', health, maxLag } });

  const readers = async (db: Knex): Promise<Set<string>> => {
    // On a busy machine the first sight of a name may go to the primary.
    await db('here').select('host');
    const rows = await Promise.all(
      Array.from({ length: 6 }, async (): Promise<{ host: string }[]> => db('here').select('host')),
    );
    return new Set(rows.flat().map(({ host }) => host));
  };

  const write = async (db: Knex): Promise<void> => {
    await db('notes').insert({ body: db.raw("repeat('x', 300) || random()") });
  };

  it.each<[string, Step, Step]>([
    [
      'cut off from the primary',
      (host) => host.cutReplication(),
      (host) => host.restoreReplication(),
    ],
    ...inLong<[string, Step, Step]>([
      'paused in its replay',
      (host) => host.pauseReplay(),
      (host) => host.resumeReplay(),
    ]),
  ])('serves no more once it is late by millis, %s, and serves again', async (_, stop, resume) => {
    const db = await limited({ millis: 500 });
    const told: RWSplitEvents['host:lag'][0][] = [];
    rwSplit(db).on('host:lag', (event) => told.push(event));
    await stop(late());

    await write(db);
    const lagging = await awaitHost(db, 'replica-1', ({ reason }) => reason !== undefined);

    expect(lagging).toMatchObject({
      state: 'up',
      reason: expect.stringMatching(/^lags \d+ ms, and may (500|250) ms$/),
    });
    expect(lagging.lagMillis).toBeGreaterThan(500);
    expect(lagging.lagBytes).toBeGreaterThan(0);
    expect(await readers(db)).toEqual(new Set(['replica-2']));
    const further = await awaitHost(db, 'replica-1', ({ lagMillis = 0 }) => lagMillis > 1000);
    expect(further.lagBytes).toBeGreaterThanOrEqual(lagging.lagBytes ?? 0);

    await resume(late());
    await awaitHost(db, 'replica-1', ({ reason }) => reason === undefined);

    expect(await readers(db)).toEqual(new Set(['replica-1', 'replica-2']));
    expect(told).toMatchObject([
      { host: 'replica-1', isFit: false },
      { host: 'replica-1', isFit: true },
    ]);
  });

  it('is not late while an idle primary writes nothing, however long ago it wrote', async () => {
    const db = await limited({ millis: 200 });
    await write(db);
    await cluster().waitForReplay();
    await late().pauseReplay();

    await sleep(1000);

    // The age of what it replayed last is beyond the limit, and says nothing.
    for (const name of ['replica-1', 'replica-2']) {
      expect(await awaitHost(db, name, () => true)).toMatchObject({ lagMillis: 0, lagBytes: 0 });
    }
    expect(await readers(db)).toEqual(new Set(['replica-1', 'replica-2']));
  });

  it('serves no more once it is late by bytes', async () => {
    const db = await limited({ bytes: 20_000 });
    await late().pauseReplay();

    await write(db);
    const behind = await awaitHost(db, 'replica-1', ({ lagBytes = 0 }) => lagBytes > 0);
    expect(behind.reason).toBeUndefined();
    await Promise.all(Array.from({ length: 100 }, async () => write(db)));

    const { reason } = await awaitHost(db, 'replica-1', (host) => host.reason !== undefined);
    expect(reason).toMatch(/^lags \d+ bytes, and may [12]0000 bytes$/);
    expect(await readers(db)).toEqual(new Set(['replica-2']));
  });

  it('leaves reads to the primary where all are late', async () => {
    const db = await limited({ millis: 300 });
    await Promise.all(cluster().replicas.map((host) => host.pauseReplay()));
    await write(db);

    for (const name of ['replica-1', 'replica-2']) {
      await awaitHost(db, name, ({ reason }) => reason !== undefined);
    }

    expect(await readers(db)).toEqual(new Set(['primary']));
  });

  it('serves however late where maxLag is false', async () => {
    const db = await limited(false);
    await late().pauseReplay();
    await write(db);

    await awaitHost(db, 'replica-1', ({ lagMillis = 0 }) => lagMillis > 300);

    expect(await readers(db)).toEqual(new Set(['replica-1', 'replica-2']));
  });
});

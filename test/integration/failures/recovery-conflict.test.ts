import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { hostStates } from '../../support/await-host.ts';
import { useInstances } from '../../support/instances.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { learnStalledRead, stalledRead, untilStalled } from '../../support/stalled-read.ts';

describe('A read that a replica cancels for its recovery', () => {
  const cluster = useOwnCluster({ settings: { max_standby_streaming_delay: '0' } });
  const instances = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => cluster().waitForReplay());

  const replicas = (): [TestHost, TestHost] => cluster().replicas as [TestHost, TestHost];

  /** Removes rows that what runs on the replicas might still need. */
  const clean = async (): Promise<void> => {
    const { primary } = cluster();
    await primary.query("insert into notes (body) values ('gone')");
    await primary.query('delete from notes');
    await primary.query('vacuum notes');
  };

  /** An instance whose first read begins on the first replica, and the hosts that its retries name. */
  const open = async (
    fallback: 'primary' | 'error' = 'primary',
  ): Promise<{ db: Knex; retries: string[] }> => {
    const db = await instances.split({
      rwSplit: { consistency: 'eventual', fallback, balancer: 'in-order' },
    });
    const retries: string[] = [];
    rwSplit(db).on('retry', ({ host, next }) => retries.push(`${host} → ${next}`));
    await rwSplit(db).checkNow();
    await learnStalledRead(db);
    return { db, retries };
  };

  it('runs on another replica, and its host stays up', async () => {
    const { db, retries } = await open();
    const read = stalledRead(db, ['replica-1']).then((rows) => rows);
    await untilStalled(replicas()[0]);

    await clean();

    expect(await read).toEqual([{ host: 'replica-2' }]);
    expect(retries).toEqual(['replica-1 → replica-2']);
    expect(Object.values(hostStates(db))).toEqual(['up', 'up', 'up']);
    expect(await db('here').select('host')).toEqual([{ host: 'replica-1' }]);
  });

  it('runs on the primary when every replica cancelled it', async () => {
    const { db, retries } = await open();
    const read = stalledRead(db, ['replica-1', 'replica-2']).then((rows) => rows);
    await untilStalled(replicas()[0]);

    await clean();
    await untilStalled(replicas()[1]);
    await clean();

    expect(await read).toEqual([{ host: 'primary' }]);
    expect(retries).toEqual(['replica-1 → replica-2', expect.stringMatching(/^replica-2 → /)]);
  });

  it('fails, tried once on each, where the primary may not stand in', async () => {
    const { db, retries } = await open('error');
    const read = stalledRead(db, ['replica-1', 'replica-2']).catch((error: unknown) => error);
    await untilStalled(replicas()[0]);

    await clean();
    await untilStalled(replicas()[1]);
    await clean();

    expect(await read).toMatchObject({
      code: '40001',
      detail: expect.stringMatching(/^User query might have needed/),
      rwSplit: { attempts: [{ host: 'replica-1', code: '40001' }, { host: 'replica-2' }] },
    });
    expect(retries).toEqual(['replica-1 → replica-2']);
  });

  it('fails where it belongs to a transaction', async () => {
    const { db, retries } = await open();
    const read = db
      .transaction(async (trx) => stalledRead(trx, ['replica-1']), { readOnly: true })
      .catch((error: unknown) => error);
    await untilStalled(replicas()[0]);

    await clean();

    expect(await read).toMatchObject({ code: '40001', rwSplit: { attempts: { length: 1 } } });
    expect(retries).toEqual([]);
  });
});

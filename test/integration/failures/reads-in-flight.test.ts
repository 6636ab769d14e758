import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { NoHostAvailableError, type RWSplitOptions, rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { eventually } from '../../support/eventually.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { untilIdle, useInstances } from '../../support/instances.ts';
import { quickHealth } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import {
  endStalled,
  learnStalledRead,
  stalledProcesses,
  stalledRead,
  untilStalled,
} from '../../support/stalled-read.ts';

const many = 'select n, repeat(?, 1000) as text, host from here, generate_series(1, 20000) as n';

/** Ends the sessions that send many rows. */
async function endMany(host: TestHost): Promise<void> {
  await host.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where query like '%generate_series%' and pid <> pg_backend_pid()`,
  );
}

describe('A read whose server is lost while it runs', () => {
  const cluster = useOwnCluster();
  const instances = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => healCluster(cluster()));

  const replicas = (): [TestHost, TestHost] => cluster().replicas as [TestHost, TestHost];

  /** An instance whose reads begin on the first replica, and may go on wherever they may. */
  const begin = async <T>(
    start: (db: Knex) => T,
    options: RWSplitOptions = {},
  ): Promise<{ db: Knex; started: T; retries: string[] }> => {
    const db = await instances.split({ rwSplit: { health: quickHealth, ...options } });
    const retries: string[] = [];
    rwSplit(db).on('retry', ({ host, next }) => retries.push(`${host} → ${next}`));
    await rwSplit(db).checkNow();
    await learnStalledRead(db);
    await rwSplit(db).drain('replica-2');
    const started = start(db);
    await untilStalled(replicas()[0]);
    rwSplit(db).readmit('replica-2');
    return { db, started, retries };
  };

  it.each([
    ['killed', (host: TestHost) => host.kill()],
    ['stopped', (host: TestHost) => host.stop()],
    ['told to end the session', endStalled],
  ])('runs on the other replica when the first is %s', async (_, lose) => {
    const { started, retries } = await begin((db) =>
      stalledRead(db, ['replica-1']).then((rows) => rows),
    );

    await lose(replicas()[0]);

    expect(await started).toEqual([{ host: 'replica-2' }]);
    expect(retries).toEqual(['replica-1 → replica-2']);
  });

  it("runs on the primary when both are lost, with fallback 'primary'", async () => {
    const { started, retries } = await begin((db) =>
      stalledRead(db, ['replica-1', 'replica-2']).then((rows) => rows),
    );

    await replicas()[0].kill();
    await untilStalled(replicas()[1]);
    await replicas()[1].kill();

    expect(await started).toEqual([{ host: 'primary' }]);
    expect(retries).toEqual(['replica-1 → replica-2', expect.stringMatching(/^replica-2 → /)]);
  });

  it("fails with both attempts named, with fallback 'error', as later ones do without any", async () => {
    const { db, started } = await begin(
      (knex) => stalledRead(knex, ['replica-1', 'replica-2']).catch((error: unknown) => error),
      { fallback: 'error' },
    );

    await replicas()[0].kill();
    await untilStalled(replicas()[1]);
    await replicas()[1].kill();

    expect(await started).toMatchObject({
      rwSplit: { host: 'replica-2', attempts: [{ host: 'replica-1' }, { host: 'replica-2' }] },
    });
    const refused = { code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/) };
    const later = await db('here')
      .select('host')
      .catch((error: unknown) => error);
    expect(later).toBeInstanceOf(NoHostAvailableError);
    expect(later).toMatchObject({
      hosts: [
        { state: 'is a primary' },
        { name: 'replica-1', state: 'unreachable', lastError: refused },
        { name: 'replica-2', state: 'unreachable', lastError: refused },
      ],
    });
  });

  it('fails where it belongs to a transaction, which is not begun anew', async () => {
    const { started, retries } = await begin((db) =>
      db
        .transaction(async (trx) => stalledRead(trx, ['replica-1']), { readOnly: true })
        .catch((error: unknown) => error),
    );

    await replicas()[0].kill();

    expect(await started).toMatchObject({
      rwSplit: { host: 'replica-1', attempts: { length: 1 } },
    });
    expect(await started).not.toHaveProperty('rwSplit.outcome');
    expect(retries).toEqual([]);
  });

  it('fails as a stream of a transaction', async () => {
    const { started, retries } = await begin((db) =>
      db
        .transaction(async (trx) => stalledRead(trx, ['replica-1']).stream().toArray(), {
          readOnly: true,
        })
        .catch((error: unknown) => error),
    );

    await endStalled(replicas()[0]);

    expect(await started).toBeInstanceOf(Error);
    expect(retries).toEqual([]);
  });

  it('runs again as a stream that has given no row', async () => {
    const { started, retries } = await begin((db) =>
      stalledRead(db, ['replica-1']).stream().toArray(),
    );

    await endStalled(replicas()[0]);

    expect(await started).toEqual([{ host: 'replica-2' }]);
    expect(retries).toEqual(['replica-1 → replica-2']);
  });

  it('fails once as a stream that has given rows', async () => {
    const db = await instances.split({ rwSplit: { health: quickHealth } });
    await rwSplit(db).drain('replica-2');
    let retries = 0;
    rwSplit(db).on('retry', () => retries++);
    const stream: Readable = db.raw(many, ['x']).stream();
    const errors: unknown[] = [];
    stream.on('error', (error) => errors.push(error));

    const [first]: unknown[] = await once(stream, 'data');
    stream.pause();
    await endMany(replicas()[0]);
    stream.resume();
    await eventually(() => errors.length > 0);
    await untilIdle(db);

    expect(first).toMatchObject({ n: 1, host: 'replica-1' });
    expect(errors).toMatchObject([{ code: '57P01' }]);
    expect(retries).toBe(0);
  });

  it('fails once as a stream that has given rows of its second host', async () => {
    const { db, started, retries } = await begin((knex) => {
      const stream: Readable = knex
        .raw(
          `select n, repeat('x', 1000) as text, host from here, generate_series(1, 20000) as n
            where case when host = 'replica-1' then pg_sleep(600) is not null else true end`,
        )
        .stream();
      const errors: unknown[] = [];
      stream.on('error', (error) => errors.push(error));
      return { errors, stream, first: once(stream, 'data') };
    });
    const { errors, stream, first } = started;

    await endStalled(replicas()[0]);
    expect(await first).toMatchObject([{ n: 1, host: 'replica-2' }]);
    stream.pause();
    await endMany(replicas()[1]);
    stream.resume();
    await eventually(() => errors.length > 0);
    await untilIdle(db);

    // The client may write to the lost connection before it reads what the server said at its end.
    const code: unknown = expect.stringMatching(/^(57P01|EPIPE|ECONNRESET)$/);
    expect(errors).toMatchObject([{ code, rwSplit: { attempts: { length: 2 } } }]);
    expect(retries).toEqual(['replica-1 → replica-2']);
  });

  it('leaves nothing running where it failed', async () => {
    const { started } = await begin((db) => stalledRead(db, ['replica-1']).then((rows) => rows));

    await endStalled(replicas()[0]);
    await started;

    expect(await stalledProcesses(replicas()[0])).toEqual([]);
    expect(await stalledProcesses(replicas()[1])).toEqual([]);
  });
});

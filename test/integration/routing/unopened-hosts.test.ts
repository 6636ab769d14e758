import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { Host } from '../../../lib/index.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { replicasOf, type Split, useSplit } from '../../support/split.ts';

// Names nothing that would have to be looked up first.
const read = (db: Knex): Knex.Raw => db.raw('select 1');
const never = async (): Promise<never> => new Promise(() => undefined);

describe('A replica whose connections never open', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  const withOpening = (replicas: Host[]): Split =>
    split.cold({
      acquireConnectionTimeout: 1500,
      // Longer, so that nothing but the budget ends the wait; destroy() waits for it.
      pool: { createTimeoutMillis: 2000 },
      rwSplit: { replicas },
    });

  it('leaves reads to the other replicas within their time', async () => {
    const { db, servers } = withOpening([never, ...replicasOf(cluster()).slice(1)]);
    await rwSplit(db).checkNow();

    for (let round = 0; round < 2; round++) {
      await Promise.all([read(db), read(db), read(db)]);
    }

    expect(servers()).toEqual(Array(6).fill('replica-2'));
    expect(rwSplit(db).hosts()[1]).toMatchObject({
      lastError: expect.stringMatching(/within|out/),
    });
  });

  it('leaves reads to the primary where there is no other', async () => {
    const { db, servers } = withOpening([never]);

    await read(db);

    expect(servers()).toEqual(['primary']);
  });
});

describe('What keeps every connection from opening', () => {
  const cluster = useRoutingDatabase();
  const { plain } = useInstances(cluster);
  const split = useSplit(cluster, 'eventual');

  const failure = async (query: PromiseLike<unknown>): Promise<unknown> =>
    Promise.resolve(query).then(
      () => 'no error',
      (error: unknown) => error,
    );

  it('is told in the words of the server', async () => {
    const connection = { ...cluster().connection(), password: 'wrong' };
    const { db } = split.cold({ connection, rwSplit: { replicas: replicasOf(cluster()) } });

    for (const query of [read(db), db('notes').insert({ rank: 1 })]) {
      expect(await failure(query)).toMatchObject({ name: 'error', code: '28P01' });
    }
  });

  it('is told in the words of the afterCreate of the application', async () => {
    const mine = Object.assign(new Error('not today'), { code: 'MINE' });
    const pool = {
      afterCreate: (_: unknown, done: (error: Error) => void) => done(mine),
    };
    const db = plain({
      client: (await split.warm()).db.client.constructor,
      pool,
      rwSplit: { replicas: replicasOf(cluster()) },
    });

    for (const query of [read(db), db('notes').insert({ rank: 1 })]) {
      expect(await failure(query)).toBe(mine);
    }
  });
});

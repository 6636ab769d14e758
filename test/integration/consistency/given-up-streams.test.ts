import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useInstances } from '../../support/instances.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';

const ways: readonly [string, (query: Knex.QueryBuilder) => Promise<unknown>][] = [
  ['an iteration', async (query) => query.stream().toArray()],
  [
    'a pipeline',
    async (query) =>
      pipeline(
        query.stream(),
        new Writable({ objectMode: true, write: (_row, _encoding, done) => done() }),
      ),
  ],
  [
    'a handler',
    async (query) =>
      new Promise((resolve, reject) => {
        void query.stream((stream) => stream.once('error', reject).resume()).then(resolve, reject);
      }),
  ],
];

describe('A stream of a session', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const { split } = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));

  it.each(ways)('tells %s that no replica could serve it in time', async (_, read) => {
    const db = await split({ rwSplit: { failover: { waitMillis: 300 } } });
    const [replica] = cluster().replicas;
    await cluster().waitForReplay();
    await replica?.pauseReplay();

    const reading = rwSplit(db).session({}, async () => {
      await db('notes').insert({ rank: 1 });
      const query = db('notes').select('id');
      return read(query.queryContext({ rwSplit: { target: 'replica' } }));
    });

    await expect(reading).rejects.toMatchObject({ code: 'RWSPLIT_STALE' });
    await replica?.resumeReplay();
  });

  it('leaves no listener on its connection where it is closed early', async () => {
    const opened: NodeJS.EventEmitter[] = [];
    const pool = {
      min: 0,
      max: 1,
      afterCreate(connection: NodeJS.EventEmitter, done: (error: unknown, ready: unknown) => void) {
        opened.push(connection);
        done(undefined, connection);
      },
    };
    const db = await split({ pool });
    await db('notes').insert(Array.from({ length: 50 }, (_, rank) => ({ rank })));
    await cluster().waitForReplay();
    const count = (): number[] => opened.map((connection) => connection.listenerCount('end'));
    const before = Math.max(...count());

    for (let n = 0; n < 12; n++) {
      for await (const _ of db('notes').select('id').stream()) break;
    }

    expect(Math.max(...count())).toBeLessThanOrEqual(before + 1);
  });
});

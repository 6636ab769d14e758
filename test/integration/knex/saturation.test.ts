import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient } from '../../../lib/index.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const served = async (db: Knex): Promise<unknown> => (await db('here').first()).host;

describe('A read', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  /** Two replicas with one connection each, which are tried in their order. */
  async function narrow(more: Knex.Config = {}): Promise<Knex> {
    const replicas = cluster().replicas.map(({ name, host, port }) => ({
      name,
      host,
      port,
      pool: { max: 1 },
    }));
    const db = await split({
      ...more,
      rwSplit: { replicas, balancer: 'in-order', ...more.rwSplit },
    });
    await served(db);
    return db;
  }

  it('goes to another replica at once while all connections of one are in use', async () => {
    const db = await narrow();
    const holder = await db.transaction({ readOnly: true });
    const startedAt = performance.now();

    const hosts = [await served(holder), await served(db)];

    expect(hosts).toEqual(['replica-1', 'replica-2']);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    await holder.rollback();
    expect(await served(db)).toBe('replica-1');
  });

  it('waits within its budget while all are in use, and is told whose', async () => {
    const db = await narrow({ acquireConnectionTimeout: 300 });
    const holders = [
      await db.transaction({ readOnly: true }),
      await db.transaction({ readOnly: true }),
    ];
    const startedAt = performance.now();

    const error = await served(db).catch((reason: unknown) => reason);

    const waited = performance.now() - startedAt;
    expect(error).toMatchObject({
      name: 'KnexTimeoutError',
      message: expect.stringMatching(
        /^Knex: Timeout acquiring a connection\..*no connection of replica-1 became free within \d+ ms \(1 used, 0 free, 0 pending, max 1\)/,
      ),
      sql: expect.stringContaining('from "here"'),
    });
    expect(waited).toBeGreaterThan(250);
    expect(waited).toBeLessThan(1500);
    await Promise.all(holders.map((holder) => holder.rollback()));
    expect(await served(db)).toBe('replica-1');
  });

  it('is served as soon as one of the connections that it waits for is free', async () => {
    const db = await narrow({ acquireConnectionTimeout: 5000 });
    const holders = [
      await db.transaction({ readOnly: true }),
      await db.transaction({ readOnly: true }),
    ];

    const hosts = await Promise.all(holders.map(served));
    // On a busy machine, replica-1 may have been passed over once.
    const [awaited, other] = hosts[0] === 'replica-1' ? holders : holders.toReversed();

    const waiting = served(db);
    await awaited?.rollback();

    expect(await waiting).toBe('replica-1');
    await other?.rollback();
  });

  it('leaves writes alone while all replicas are in use', async () => {
    const db = await narrow();
    const holders = [
      await db.transaction({ readOnly: true }),
      await db.transaction({ readOnly: true }),
    ];

    expect(await db('notes').insert({ body: 'x' })).toMatchObject({ rowCount: 1 });
    await Promise.all(holders.map((holder) => holder.rollback()));
  });

  it('has one time budget over all hosts that it tries', async () => {
    const sockets = new Set<Socket>();
    // Takes connections, and never says a word.
    const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await new Promise((done) => silent.once('listening', done));
    const { port } = silent.address() as { port: number };
    const replicas = ['one', 'two', 'three'].map((name) => ({
      name,
      host: '127.0.0.1',
      port,
      user: name,
      connectionTimeoutMillis: 300,
    }));
    const db = knex({
      client: RWSplitClient,
      connection: cluster().connection(),
      acquireConnectionTimeout: 500,
      log: { warn: () => undefined },
      rwSplit: { replicas, fallback: 'error' },
    });
    const startedAt = performance.now();

    const error = await db.raw('select 1').then(
      () => 'no error',
      (reason: Error) => reason,
    );

    expect(performance.now() - startedAt).toBeLessThan(800);
    expect(error).toMatchObject({ name: 'NoHostAvailableError' });
    await db.destroy();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

import { EventEmitter } from 'node:events';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayCommits } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { useSplit } from '../../support/split.ts';

const lateMillis = 600_000;
const replica = expect.stringMatching(/^replica/);

describe('Sessions of one client', () => {
  const cluster = useOwnCluster();
  const split = useSplit(cluster);

  beforeAll(async () => {
    await createRoutingSchema(cluster());
    await Promise.all(cluster().replicas.map(async (host) => delayCommits(host, lateMillis)));
  });

  const inSession = async <T>(db: Knex, fn: () => Promise<T>): Promise<T> =>
    rwSplit(db).session({}, fn);
  const write = async (db: Knex): Promise<unknown> => db('notes').insert({ rank: 1 });
  const reader = async (db: Knex): Promise<string> => (await db('here').first('host')).host;
  /** Who serves a session that did nothing yet. */
  const otherReader = async (db: Knex): Promise<string> => inSession(db, async () => reader(db));

  it('are kept apart on connections that one of them opened', async () => {
    const { db } = split.cold({ pool: { min: 0, max: 1 } });

    const own = await inSession(db, async () => {
      await Promise.all([reader(db), write(db), reader(db)]);
      return [await reader(db), typeof rwSplit(db).token()];
    });
    const other = await inSession(db, async () => [await reader(db), rwSplit(db).token()]);

    expect(own).toEqual(['primary', 'string']);
    expect(other).toEqual([replica, undefined]);
  });

  it('are kept apart where they run at the same time, and wait for one connection', async () => {
    const { db } = await split.warm({ pool: { min: 0, max: 1 } });

    const readers = await Promise.all(
      Array.from({ length: 40 }, async (_, n) =>
        inSession(db, async () => {
          if (n % 2 === 0) await write(db);
          return reader(db);
        }),
      ),
    );

    const expected = readers.map((__, n) => (n % 2 === 0 ? 'primary' : replica));
    expect(readers).toEqual(expected);
  });

  it('leave the client as it was, and the client leaves them', async () => {
    const { db } = await split.warm();

    await inSession(db, async () => write(db));
    const before = [await reader(db), rwSplit(db).token()];
    await write(db);
    const after = [await reader(db), typeof rwSplit(db).token()];

    expect(before).toEqual([replica, undefined]);
    expect(after).toEqual(['primary', 'string']);
    expect(await otherReader(db)).toEqual(replica);
  });

  it('reach what they start: timers, and promises that nobody waits for', async () => {
    const { db } = await split.warm();

    const seen = await inSession(db, async () => {
      await new Promise((resolve) => {
        setTimeout(() => resolve(write(db)), 1);
      });
      const inTimer = await reader(db);
      const late = new Promise((resolve) => {
        setImmediate(() => resolve(reader(db)));
      });
      return { inTimer, late };
    });

    expect([seen.inTimer, await seen.late]).toEqual(['primary', 'primary']);
    expect(await reader(db)).toEqual(replica);
  });

  it('take no part in what a listener does for another one', async () => {
    const { db } = await split.warm();
    const emitter = new EventEmitter();
    const pending: Promise<unknown>[] = [];
    await inSession(db, async () => {
      emitter.on('write', () => pending.push(Promise.resolve(write(db))));
    });

    const seen = await inSession(db, async () => {
      emitter.emit('write');
      await Promise.all(pending);
      return reader(db);
    });

    expect(seen).toBe('primary');
    expect(await otherReader(db)).toEqual(replica);
  });

  it("are those of the query in Knex's events, and of nobody in the pool's callbacks", async () => {
    const tokens = { events: new Set<unknown>(), callbacks: new Set<unknown>() };
    let db: Knex | undefined;
    const note = (where: keyof typeof tokens): void => {
      if (db !== undefined) tokens[where].add(rwSplit(db).token());
    };
    const { connection, rwSplit: hosts } = clusterConfig();
    ({ db } = split.cold({
      connection,
      rwSplit: hosts,
      pool: { min: 0, max: 1 },
      acquireConnectionTimeout: 5000,
    }));
    const opened = db;
    opened.client.pool.on('createSuccess', () => note('callbacks'));
    opened.on('query-response', () => note('events'));

    const own = await inSession(opened, async () => {
      await write(opened);
      await reader(opened);
      return rwSplit(opened).token();
    });
    tokens.events.clear();
    await inSession(opened, async () => reader(opened));

    expect(own).toEqual(expect.any(String));
    expect([...tokens.events]).toEqual([undefined]);
    expect([...tokens.callbacks]).toEqual([undefined]);
  });

  it('end with their stream, which is the session that made it', async () => {
    const { db } = await split.warm();
    await write(db);

    const stream = await inSession(db, async () => db('here').select('host').stream());
    const hosts: unknown[] = [];
    for await (const row of stream) {
      hosts.push(row.host);
      // What consumes it belongs to the client.
      hosts.push(await reader(db));
    }

    expect(hosts).toEqual([replica, 'primary']);
  });

  it('share their writes with the session around them, and see its writes', async () => {
    const { db } = await split.warm();

    const [before, inner, outer] = await inSession(db, async () => [
      await otherReader(db),
      await inSession(db, async () => {
        await write(db);
        return reader(db);
      }),
      await reader(db),
    ]);

    expect([before, inner, outer]).toEqual([replica, 'primary', 'primary']);
  });

  it('stay with a transaction that another session goes on with', async () => {
    const { db } = await split.warm();
    const trx = await inSession(db, async () => db.transaction());

    const seen = await inSession(db, async () => {
      await trx('notes').insert({ rank: 2 });
      await trx.commit();
      return reader(db);
    });

    // Whoever commits knows of it, and so has to see it.
    expect(seen).toBe('primary');
  });

  function clusterConfig(): Required<Pick<Knex.Config, 'connection' | 'rwSplit'>> {
    return {
      connection: cluster().connection(),
      rwSplit: {
        replicas: cluster().replicas.map(({ name, host, port }) => ({ name, host, port })),
      },
    };
  }
});

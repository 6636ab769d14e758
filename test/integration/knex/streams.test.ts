import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useInstances, untilIdle } from '../../support/instances.ts';
import { countPoolEvents } from '../../support/pool-events.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const three = 'select served_by() as host, n from generate_series(1, 3) as n';

describe('A stream', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  it.each<[string, (db: Knex) => Promise<unknown>, unknown]>([
    ['read to its end', async (db) => (await db.raw(three).stream().toArray()).length, 3],
    [
      'left by break',
      async (db) => {
        for await (const row of db.raw('select n from generate_series(1, 100000) as n').stream())
          return row;
        return undefined;
      },
      { n: 1 },
    ],
    [
      'with an error in a row',
      async (db) =>
        db
          .raw('select 1 / (3 - n) from generate_series(1, 3) as n')
          .stream()
          .toArray()
          .catch(({ code }) => code),
      '22012',
    ],
    [
      'with an error at its start',
      async (db) =>
        db
          .raw('select 1 from nowhere_at_all')
          .queryContext({ rwSplit: { target: 'primary' } })
          .stream()
          .toArray()
          .catch(({ code }) => code),
      '42P01',
    ],
    [
      'given to a handler',
      async (db) => {
        const rows: unknown[] = [];
        await db.raw(three).stream((stream) => stream.on('data', (row) => rows.push(row)));
        return rows.length;
      },
      3,
    ],
    [
      'piped',
      async (db) => {
        let rows = 0;
        const sink = new Writable({
          objectMode: true,
          write: (_row, _encoding, done) => done(void rows++),
        });
        await new Promise((done) => void db.raw(three).pipe(sink).on('finish', done));
        return rows;
      },
      3,
    ],
    [
      'destroyed before its first row',
      async (db) => {
        const stream = db.raw('select pg_sleep(0.1)').stream();
        stream.destroy();
        await untilIdle(db);
        return stream.destroyed;
      },
      true,
    ],
    [
      'of a transaction',
      async (db) => db.transaction(async (trx) => (await trx.raw(three).stream().toArray()).length),
      3,
    ],
    [
      'on a connection that it is given',
      async (db) => {
        const connection = (await db.client.acquireConnection()) as object;
        const rows = await db('here').connection(connection).stream().toArray();
        await new Promise(setImmediate);
        const again = await db('here').connection(connection);
        await db.client.releaseConnection(connection);
        return [...rows, ...again];
      },
      [
        { host: 'primary', one: 1 },
        { host: 'primary', one: 1 },
      ],
    ],
  ])('%s gives its connection back exactly once', async (_, use, expected) => {
    const db = await split();
    // The first sight of a text may take a connection for a look-up.
    await use(db);
    await untilIdle(db);
    const events = countPoolEvents(db);

    const result = await use(db);

    expect(result).toEqual(expected);
    await untilIdle(db);
    await new Promise(setImmediate);
    expect(events).toEqual({ acquired: 1, released: 1 });
  });

  it('without a free connection fails once, and takes none', async () => {
    const db = await split({
      pool: { min: 0, max: 1 },
      acquireConnectionTimeout: 400,
      rwSplit: {
        replicas: cluster()
          .replicas.slice(0, 1)
          .map(({ host, port }) => ({ host, port })),
      },
    });
    await db('here');
    const holder = await db.transaction({ readOnly: true });
    const events = countPoolEvents(db);
    const errors: unknown[] = [];
    const stream = db('here')
      .stream()
      .on('error', (error) => errors.push(error.name));

    await new Promise((done) => stream.on('error', done));
    await new Promise(setImmediate);

    await holder.rollback();
    expect(errors).toEqual(['KnexTimeoutError']);
    expect(events).toEqual({ acquired: 0, released: 1 });
  });

  it('has a connection of its own, which another one running does not share', async () => {
    const db = await split({
      rwSplit: {
        replicas: cluster()
          .replicas.slice(0, 1)
          .map(({ host, port }) => ({ host, port })),
      },
    });
    const events = countPoolEvents(db);
    const many =
      'select n, (select count(*) from pg_stat_activity) from generate_series(1, 1000) as n';
    const uids = new Set<unknown>();
    db.on('query', ({ __knexUid }) => uids.add(__knexUid));

    const [one, two] = [
      db.raw(many).stream({ batchSize: 10 }),
      db.raw(many).stream({ batchSize: 10 }),
    ];
    const rows = await Promise.all([one.toArray(), two.toArray()]);

    expect(rows.map(({ length }) => length)).toEqual([1000, 1000]);
    expect(uids.size).toBe(2);
    await untilIdle(db);
    expect(events.acquired).toBe(events.released);
  });

  it('gives back no connection that another query has meanwhile', async () => {
    const db = await split({
      pool: { min: 0, max: 1 },
      rwSplit: {
        replicas: cluster()
          .replicas.slice(0, 1)
          .map(({ host, port }) => ({ host, port })),
      },
    });
    const stream = db.raw(three).stream();
    const next = Promise.all([1, 2, 3].map(async () => db.raw('select pg_sleep(0.05)')));

    await stream.toArray();
    stream.destroy();

    await expect(next).resolves.toHaveLength(3);
  });
});

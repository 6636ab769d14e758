import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import type { PoolClient } from 'pg';
import { from, to } from 'pg-copy-streams';
import Cursor from 'pg-cursor';
import QueryStream from 'pg-query-stream';
import { useInstances } from '../../support/instances.ts';
import { onConnection } from '../../support/on-connection.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

type Use = (connection: PoolClient) => Promise<unknown>;

const withConnection = async (db: Knex, use: Use): Promise<unknown> =>
  onConnection(db, (connection) => use(connection as PoolClient));

const onRole: [string, (db: Knex, use: Use) => Promise<unknown>][] = [
  ['primary', withConnection],
  [
    'replica-1',
    async (db, use) =>
      db.transaction(async (trx) => withConnection(trx, use), {
        readOnly: true,
      }),
  ],
];

describe.each(onRole)('On a connection of %s', (host, on) => {
  const cluster = useRoutingDatabase();
  const instances = useInstances(cluster);
  const split = (): Promise<Knex> => {
    const replicas = cluster()
      .replicas.slice(0, 1)
      .map(({ name, host: address, port }) => ({ name, host: address, port }));
    return instances.split({ rwSplit: { replicas } });
  };

  it('pg-cursor reads in portions', async () => {
    const rows = await on(await split(), async (connection) => {
      const cursor = connection.query(
        new Cursor('select host, n from here, generate_series(1, 5) as n order by n'),
      );
      const portions = [await cursor.read(3), await cursor.read(3)];
      await cursor.close();
      return portions;
    });

    expect(rows).toEqual([[1, 2, 3].map((n) => ({ host, n })), [4, 5].map((n) => ({ host, n }))]);
  });

  it('pg-query-stream streams', async () => {
    const rows = await on(await split(), async (connection) =>
      connection
        .query(new QueryStream('select host, n from here, generate_series(1, 3) as n'))
        .toArray(),
    );

    expect(rows).toEqual([1, 2, 3].map((n) => ({ host, n })));
  });

  it('pg-copy-streams copies out', async () => {
    const copied = await on(await split(), async (connection) =>
      text(connection.query(to('copy (select host, one from here) to stdout'))),
    );

    expect(copied).toBe(`${host}\t1\n`);
  });

  it('the connection serves on', async () => {
    const db = await split();
    await on(db, async (connection) => connection.query('select 1'));

    expect(await db('here').pluck('one')).toEqual([1]);
    expect(await db('notes').insert({ rank: 1 })).toMatchObject({ rowCount: 1 });
  });
});

describe('pg-copy-streams', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  afterEach(async () => {
    await cluster().primary.query('truncate notes');
  });

  it('copies in on the primary, in a transaction whose rows the session sees', async () => {
    const db = await split();

    await db.transaction(async (trx) =>
      withConnection(trx, async (connection) =>
        pipeline(
          Readable.from(['one\t1\n', 'two\t2\n']),
          connection.query(from('copy notes (body, rank) from stdin')),
        ),
      ),
    );

    expect(await db('notes').orderBy('rank').pluck('body')).toEqual(['one', 'two']);
  });

  it('is refused on a replica in the words of the server, and the pool lives on', async () => {
    const db = await split();

    const copied = db.transaction(
      async (trx) =>
        withConnection(trx, async (connection) =>
          pipeline(
            Readable.from(['one\t1\n']),
            connection.query(from('copy notes (body, rank) from stdin')),
          ),
        ),
      { readOnly: true },
    );

    await expect(copied).rejects.toMatchObject({ code: '25006' });
    expect(await db('notes').pluck('body')).toEqual([]);
  });
});

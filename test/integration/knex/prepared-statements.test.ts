import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { preparedOf, textsOf, twice } from '../../support/prepared.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';
import { useWireCount } from '../../support/wire-count.ts';

type Run = (db: Knex) => PromiseLike<unknown>;

const text = 'select "rank" from "notes" where "rank" = $1';
const byRank = (db: Knex, rank = 1): Knex.QueryBuilder =>
  db('notes').select('rank').where({ rank });

const named: readonly (readonly [name: string, run: Run])[] = [
  ['a read', (db) => byRank(db)],
  ['a write', (db) => db('notes').insert({ rank: 1 })],
  ['raw text with values', (db) => db.raw('select ?::int as n', [1])],
  ['raw text without any', (db) => db.raw('select 1 as n')],
  ['raw text with a semicolon at its end', (db) => db.raw('select 1 as m; ')],
  ['a tagged text', (db) => db.raw('/* page */ select 1 as k')],
];

const unnamed: readonly (readonly [name: string, run: Run])[] = [
  ['a transaction', (db) => db.transaction((trx) => byRank(trx))],
  ['a stream', consume],
  ['several statements', (db) => db.raw('select 1; select 2')],
  ['a semicolon in a string', (db) => db.raw("select ';' || 'a'")],
  ['a procedure', (db) => db.raw('do $$ begin end $$')],
  ['schema builders', (db) => db.schema.hasTable('notes')],
  ['a name of its own', (db) => byRank(db).options({ name: 'own' })],
  ['a text of its own', (db) => byRank(db).options({ text: 'select 5', values: [] })],
  ['rows by portions', (db) => byRank(db).options({ rows: 10 })],
  [
    'a connection taken by hand',
    async (db) => {
      const connection: unknown = await db.client.acquireConnection();
      await byRank(db).connection(connection);
      await db.client.releaseConnection(connection);
    },
  ],
];

async function consume(db: Knex): Promise<void> {
  for await (const row of byRank(db).stream()) expect(row).toBeDefined();
}

describe('Named prepared statements', () => {
  const cluster = useRoutingDatabase();
  const wire = useWireCount(cluster);
  const splits = useSplit(cluster);

  const open = async (max: number, more: Knex.Config['rwSplit'] = {}): Promise<Knex> => {
    const options = { replicas: [], prepare: { max }, ...more };
    return (await splits.warm({ pool: { max: 1 }, rwSplit: options })).db;
  };

  const tripsOf = async (run: () => PromiseLike<unknown>): Promise<number> => {
    wire.roundTrips();
    await run();
    return wire.roundTrips()[cluster().primary.name] ?? 0;
  };

  it('are none by default', async () => {
    const { db } = await splits.warm({ pool: { max: 1 }, rwSplit: { replicas: [] } });
    await twice(() => byRank(db));

    expect(await preparedOf(db)).toEqual([]);
  });

  it('are made of a text that is seen again', async () => {
    const db = await open(10);
    await db('notes').insert({ rank: 77 });
    await byRank(db);
    const first = await preparedOf(db);
    await byRank(db, 2);

    expect(first).toEqual([]);
    expect(await preparedOf(db)).toEqual([
      {
        name: expect.stringMatching(/^rw_[0-9a-f]{32}$/),
        statement: text,
        parameter_types: '{integer}',
      },
    ]);
    expect(await byRank(db, 77)).toEqual([{ rank: 77 }]);
    expect(await preparedOf(db)).toHaveLength(1);
  });

  it.each(named)('are made of %s', async (_, run) => {
    const db = await open(10);
    await twice(() => run(db));

    expect(await preparedOf(db)).toHaveLength(1);
  });

  it.each(unnamed)('are not made of %s', async (_, run) => {
    const db = await open(10);
    await twice(() => run(db));
    await run(db);

    expect((await preparedOf(db)).filter(({ name }) => name.startsWith('rw_'))).toEqual([]);
  });

  it.each(['session', 'eventual'] as const)(
    'are at most as many as is said, the ones used last, in no round trip more: %s',
    async (consistency) => {
      const { rwSplit: wired, ...config } = wire.config();
      const replicas: readonly never[] = [];
      const options = { ...wired, replicas, consistency, prepare: { max: 2 } };
      const { db } = await splits.warm({ ...config, pool: { max: 1 }, rwSplit: options });
      const run = (name: string): Knex.QueryBuilder => db('notes').max(`rank as ${name}`);
      for (const name of ['b', 'b', 'a', 'a', 'c', 'c']) await run(name);
      // Two by an older pg, which asks for the answers before it ends a statement.
      const usual = await tripsOf(() => run('no_name_yet'));

      const kept: string[][] = [];
      const trips: number[] = [];
      for (const name of ['a', 'b', 'a', 'c', 'b']) {
        trips.push(await tripsOf(() => run(name)));
        kept.push((await textsOf(db)).map((sql) => /as "(\w)"/.exec(sql)?.[1] ?? sql));
      }

      expect(kept).toEqual([
        ['a', 'c'],
        ['a', 'b'],
        ['a', 'b'],
        ['a', 'c'],
        ['c', 'b'],
      ]);
      expect(trips).toEqual([usual, usual, usual, usual, usual]);
    },
  );

  it('are shared by states that differ in settings, which take no round trip', async () => {
    const { rwSplit: options, ...config } = wire.config();
    const { db } = await splits.warm({
      ...config,
      pool: { max: 1 },
      rwSplit: { ...options, replicas: [], prepare: { max: 2 } },
    });
    const tenantIn = (tenant: string, as = 'tenant'): Knex.Raw =>
      rwSplit(db)
        .withState({ settings: { 'app.tenant': tenant } })
        .raw(`select current_setting('app.tenant') as ${as}`);
    for (const tenant of ['a', 'b', 'a']) await tenantIn(tenant);
    for (const as of ['b', 'b']) await tenantIn('a', as);
    const usual = await tripsOf(() => tenantIn('b', 'no_name_yet'));

    const seen: unknown[] = [];
    for (const as of ['tenant', 'b', 'no_name_yet', 'tenant']) {
      for (const tenant of ['c', 'd']) {
        const trips = await tripsOf(async () => {
          const { rows } = await tenantIn(tenant, as);
          seen.push(rows[0][as]);
        });
        expect(trips).toBe(usual);
      }
    }

    expect(seen).toEqual(['c', 'd', 'c', 'd', 'c', 'd', 'c', 'd']);
    expect(await preparedOf(db)).toHaveLength(2);
  });

  it('read literals as each session does', async () => {
    const db = await open(10);
    const read = async (timezone: string, datestyle: string): Promise<unknown> => {
      const tenant = rwSplit(db).withState({ settings: { timezone, datestyle } });
      const { rows } = await tenant.raw(
        "select extract(epoch from '2024-01-01 00:00'::timestamptz)::int as at, extract(month from '01/02/2024'::date)::int as month",
      );
      return rows;
    };
    const tokyo = ['Asia/Tokyo', 'ISO, DMY'] as const;
    const newYork = ['America/New_York', 'ISO, MDY'] as const;

    await twice(() => read(...tokyo));
    await twice(() => read(...newYork));

    expect([await read(...tokyo), await read(...newYork)]).toEqual([
      [{ at: 1_704_034_800, month: 2 }],
      [{ at: 1_704_085_200, month: 1 }],
    ]);
  });

  it('read the clock each time', async () => {
    const db = await open(10);
    const read = async (): Promise<string> => {
      const { rows } = await db.raw("select (timestamptz 'now')::text as at");
      return rows[0].at;
    };

    const times = [await read(), await read(), await read(), await read()];

    expect(new Set(times).size).toBe(4);
  });

  it('run without a name where something else changes their text each time', async () => {
    const db = await open(10);
    let count = 0;
    const connection = await db.client.acquireConnection();
    const query = connection.query.bind(connection);
    connection.query = (
      config: { readonly text?: string } | string,
      ...more: unknown[]
    ): unknown => {
      if (typeof config === 'string' || config.text === undefined) return query(config, ...more);
      return query({ ...config, text: `${config.text} /* trace=${++count} */` }, ...more);
    };
    await db.client.releaseConnection(connection);

    const found = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other, on one connection.
    for (let turn = 0; turn < 5; turn++) found.push(await db('here').pluck('one'));

    expect(found).toEqual([[1], [1], [1], [1], [1]]);
  });
});

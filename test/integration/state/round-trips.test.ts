import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { StateOptions } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { untilIdle } from '../../support/instances.ts';
import { useSplit } from '../../support/split.ts';
import { useWireCount } from '../../support/wire-count.ts';

type Run = (db: Knex) => PromiseLike<unknown>;

const runs: readonly (readonly [name: string, roundTrips: number, run: Run])[] = [
  ['a query', 1, (db) => db('notes').select('rank').limit(1)],
  ['raw text', 1, (db) => db.raw('select rank from notes limit 1')],
  ['a write', 1, (db) => db('notes').insert({ rank: 1 })],
  [
    'an upsert',
    1,
    (db) => db.raw('insert into upserted values (1, 1)\non conflict (id)\n  do update set n = 2'),
  ],
  [
    'an upsert that binds',
    1,
    (db) => db.raw('insert into upserted values (?, 1) on conflict\ndo nothing', [1]),
  ],
  ['an ampersand', 1, (db) => db.raw(`select '{"glue":"&"}'::jsonb, "rank"&"rank" from notes`)],
  ['a stream', 2, consume],
  ['a transaction', 3, (db) => db.transaction((trx) => trx('notes').insert({ rank: 1 }))],
];

const alone: readonly (readonly [name: string, roundTrips: number, run: Run])[] = [
  ['several statements', 2, (db) => db.raw('select 1; select 2')],
  ['DDL', 2, (db) => db.schema.raw('create table if not exists notes ()')],
];

async function consume(db: Knex): Promise<void> {
  for await (const row of db('notes').select('rank').limit(1).stream()) expect(row).toBeDefined();
}

describe('A change of state on the wire', () => {
  const cluster = useRoutingDatabase();
  const wire = useWireCount(cluster);
  const splits = useSplit(cluster);

  beforeAll(async () => {
    await cluster().primary.query('create table upserted (id int primary key, n int)');
    await cluster().waitForReplay();
  });

  it.each(
    (['session', 'eventual'] as const).flatMap((consistency) =>
      runs.map(([name, trips, run]) => [name, consistency, trips, run] as const),
    ),
  )('takes no round trip of its own: %s, %s', async (_, consistency, trips, run) => {
    const db = await open(consistency);

    expect(await tripsOf(db, 'a', run)).toBe(trips);
    expect(await tripsOf(db, 'b', run)).toBe(trips);
    expect(await tripsOf(db, 'b', run)).toBe(trips);
  });

  it.each(alone)('is confirmed before %s', async (_, trips, run) => {
    const db = await open('eventual');

    expect(await tripsOf(db, 'a', run)).toBe(trips);
    expect(await tripsOf(db, 'a', run)).toBe(trips - 1);
  });

  it.each(['do $$ declare n int; begin end $$', 'call load()'])(
    'leaves the connection to whoever is next after %s',
    async (code) => {
      await cluster().primary.query('create or replace procedure load() language sql as $$ $$');
      const db = await open('eventual');
      const before = await serving(stateful(db, 'a'));

      await stateful(db, 'a').raw(code);

      expect(await serving(stateful(db, 'b'))).toEqual(before);
    },
  );

  it('travels with what is asked of the catalog, and its connection stays', async () => {
    const { db } = splits.cold({ ...wire.config(), pool: { max: 1 }, rwSplit: { replicas: [] } });
    const inPath = (path: string): Knex =>
      rwSplit(db).withState({ searchPath: ['public', path], settings: { 'app.tenant': path } });
    const before = await serving(inPath('a'));

    for (const path of ['b', 'c']) {
      wire.roundTrips();
      await inPath(path)('notes').select('rank').limit(1);
      expect(wire.roundTrips()).toMatchObject({ primary: 2 });
      await untilIdle(db);
      expect(await serving(inPath(path))).toEqual(before);
    }
  });

  async function open(consistency: 'session' | 'eventual'): Promise<Knex> {
    const hosts = wire.config();
    const options = { ...hosts.rwSplit, consistency, target: 'primary' as const };
    const { db } = splits.cold({ ...hosts, pool: { max: 1 }, rwSplit: options });
    for (const [, , run] of runs) await run(stateful(db, 'warm'));
    return db;
  }

  async function tripsOf(db: Knex, tenant: string, run: Run): Promise<number | undefined> {
    wire.roundTrips();
    await run(stateful(db, tenant));
    return wire.roundTrips()['primary'];
  }
});

function serving(db: Knex): PromiseLike<unknown> {
  return db('notes').select(db.raw('pg_backend_pid() as connection')).limit(1);
}

// The same for the catalog, which would have to be asked of each.
function stateful(db: Knex, tenant: string): Knex {
  const state: StateOptions = { settings: { 'app.tenant': tenant, work_mem: '2MB' } };
  return rwSplit(db).withState(state);
}

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { type HostSnapshot, rwSplit } from '../../../lib/index.ts';
import type { ConsistencyMode } from '../../../lib/config/consistency-options.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { eventually } from '../../support/eventually.ts';
import { useSplit } from '../../support/split.ts';
import { useWireCount } from '../../support/wire-count.ts';

const modes: readonly ConsistencyMode[] = ['eventual', 'session'];

const writes: readonly [name: string, roundTrips: number, (db: Knex) => Promise<unknown>][] = [
  ['an insert', 1, async (db) => db('notes').insert({ rank: 1 })],
  ['an insert that returns rows', 1, async (db) => db('notes').insert({ rank: 1 }, 'id')],
  ['a write in a text', 1, async (db) => db.raw('insert into notes (rank) values (1)')],
  [
    'a transaction, with its BEGIN and COMMIT',
    3,
    async (db) => db.transaction(async (trx) => trx('notes').insert({ rank: 1 })),
  ],
  [
    'a transaction that is rolled back',
    3,
    async (db) => {
      const trx = await db.transaction();
      await trx('notes').insert({ rank: 1 });
      await trx.rollback();
    },
  ],
];

describe('On the wire', () => {
  const cluster = useRoutingDatabase();
  const wire = useWireCount(cluster);
  const split = useSplit(cluster);

  it('writes and transactions take no round trip more in a session', async () => {
    for (const consistency of modes) {
      const db = await open({ consistency });

      const trips: Record<string, unknown> = {};
      for (const [name, , run] of writes) {
        await run(db);
        trips[name] = wire.roundTrips();
      }

      const expected = writes.map(([name, primary]) => [
        name,
        { primary, 'replica-1': 0, 'replica-2': 0 },
      ]);
      expect([consistency, trips]).toEqual([consistency, Object.fromEntries(expected)]);
    }
  });

  it('a read of which a replica is known to be fresh takes one round trip, to a replica', async () => {
    for (const consistency of modes) {
      const db = await open({ consistency });
      await db('notes').insert({ rank: 2 });
      await cluster().waitForReplay();
      await rwSplit(db).checkNow();
      wire.roundTrips();

      for (let n = 0; n < 4; n++) await db('here').select('host');

      expect([consistency, sorted(wire.roundTrips())]).toEqual([consistency, [0, 2, 2]]);
    }
  });

  it('a read of which a replica has to be asked takes one round trip too', async () => {
    const db = await open({ consistency: 'session' });
    await db('notes').insert({ rank: 3 });
    await cluster().waitForReplay();
    wire.roundTrips();

    const [row] = await db('here').select('host');

    expect(row.host).toMatch(/^replica/);
    expect(sorted(wire.roundTrips())).toEqual([0, 0, 1]);
    expect(totals(db)).toEqual({ fresh: 0, checked: 1, stale: 0, forStaleness: 0 });
  });

  it('the read after one that was checked needs no check, on the same replica', async () => {
    const db = await open({ consistency: 'session' });
    await db('notes').insert({ rank: 4 });
    await cluster().waitForReplay();

    for (let n = 0; n < 4; n++) await db('here').select('host');

    expect(totals(db)).toEqual({ fresh: 2, checked: 2, stale: 0, forStaleness: 0 });
  });

  /** An instance with a warm connection to each host that no probe disturbs. */
  async function open(options: Knex.Config['rwSplit']): Promise<Knex> {
    const { connection, rwSplit: hosts } = wire.config();
    const health = { intervalMillis: 60_000 };
    const { db } = await split.warm({
      ...(connection === undefined ? {} : { connection }),
      pool: { min: 0, max: 1 },
      rwSplit: { ...hosts, ...options, health },
    });
    // The first probe of a replica is soon followed by another if the primary was not known yet; and a
    // replica that was late at its probe, as others write here, too, is taken for late for a while.
    await eventually(async () => {
      await rwSplit(db).checkNow();
      return rwSplit(db)
        .hosts()
        .every(({ lagMillis = 0 }) => lagMillis < 1);
    });
    // Every name is looked up by then.
    await Promise.all([db('here').select('host'), db('notes').first()]);
    wire.roundTrips();
    return db;
  }

  function totals(db: Knex): HostSnapshot['consistency'] {
    const totals = { fresh: 0, checked: 0, stale: 0, forStaleness: 0 };
    for (const { consistency } of rwSplit(db).hosts()) {
      for (const name of Object.keys(totals) as (keyof typeof totals)[]) {
        totals[name] += consistency[name];
      }
    }
    return totals;
  }

  function sorted(trips: Record<string, number>): number[] {
    return Object.values(trips).toSorted((one, other) => one - other);
  }
});

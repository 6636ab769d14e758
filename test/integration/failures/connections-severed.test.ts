import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { eventually } from '../../support/eventually.ts';
import { useFailover } from '../../support/failover.ts';
import { endStalled } from '../../support/stalled-read.ts';

const acquireConnectionTimeout = 1000;

describe('Connections that are cut together', () => {
  const { hosts, warm } = useFailover();

  const ends: [string, (db: Knex) => unknown][] = [
    ['the primary hangs', () => hosts()[0].hang()],
    ['the instance is destroyed', (db) => db.destroy()],
    // The last, so that no failover has to be undone.
    ['the primary is fenced', () => hosts()[1].promote()],
  ];

  it.each(ends)('fail each with an error of its own when %s', async (_, end) => {
    const [first] = hosts();
    // Of the test before: a server goes on with what nobody waits for.
    await endStalled(first);
    const { db } = await warm({
      acquireConnectionTimeout,
      rwSplit: { failover: { waitMillis: 500 } },
    });
    const write = (body: string): Knex.Raw =>
      db.raw('insert into notes (body) select ? from pg_sleep(30)', [body]);
    const trx = await db.transaction();
    await trx('notes').insert({ rank: 1 });

    const running = [
      errorOf(write('of alice')),
      errorOf(write('of bob')),
      errorOf(trx.raw('select pg_sleep(30), ?::text', ['of carol'])),
      // Ends where it is run again.
      errorOf(
        db
          .raw(
            "select case when served_by() = 'primary' then pg_sleep(30)::text end, ?::text as of",
            ['of dave'],
          )
          .queryContext({ rwSplit: { target: 'primary' } }),
      ),
    ];
    await eventually(async () => {
      const text = "select from pg_stat_activity where wait_event = 'PgSleep'";
      return (await first.query(text)).length === running.length;
    });
    await end(db);
    const [alice, bob, inTransaction, read] = await Promise.all(running);
    await trx.rollback().catch(() => undefined);

    for (const [error, query] of [
      [alice, 'insert into notes (body) select $1 from pg_sleep(30)'],
      [bob, 'insert into notes (body) select $1 from pg_sleep(30)'],
      [inTransaction, 'select pg_sleep(30), $1::text'],
    ] as const) {
      expect(error?.message.split(query)).toHaveLength(2);
      expect(error?.message).not.toContain(' - insert');
      expect(error?.message).not.toContain(' - select');
    }
    const failed = [alice, bob, inTransaction, read].filter((error) => error !== undefined);
    expect(new Set(failed)).toHaveProperty('size', failed.length);
    expect(failed.map(({ rwSplit }) => rwSplit?.outcome)).toEqual(
      ['unknown', 'unknown', undefined, undefined].slice(0, failed.length),
    );
    expect(failed.length).toBeGreaterThanOrEqual(3);
  });
});

/** An error, and what it says of the outcome. */
interface RoutedError extends Error {
  readonly rwSplit?: { readonly outcome?: 'unknown' };
}

/** Undefined where there is none. */
async function errorOf(work: PromiseLike<unknown>): Promise<RoutedError | undefined> {
  return Promise.resolve(work).then(
    () => undefined,
    (error: RoutedError) => error,
  );
}

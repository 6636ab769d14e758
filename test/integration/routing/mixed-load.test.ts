import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { amount } from '../../support/long.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { useSplit } from '../../support/split.ts';

const concurrency = 20;

interface Tally {
  written: number;
  readonly wrong: string[];
}

type Step = (db: Knex, tally: Tally) => Promise<void>;

/** Each step knows which servers may have run it, and says what they answered if others did. */
const steps: readonly Step[] = [
  async (db, { wrong }) => note(wrong, 'select', await host(db('here').first('host')), /^replica/),
  async (db, { wrong }) => {
    const { rows }: { rows: { host: string }[] } = await db.raw('select served_by() as host');
    note(wrong, 'raw select', rows[0]?.host, /^replica/);
  },
  async (db, { wrong }) => {
    for await (const row of db('here').select('host').stream()) {
      note(wrong, 'stream', (row as { host: string }).host, /^replica/);
    }
  },
  async (db, { wrong }) => {
    const hosts = await db.transaction(
      async (trx) => [await host(trx('here').first('host')), await host(trx('here').first('host'))],
      { readOnly: true },
    );
    note(wrong, 'read-only transaction', [...new Set(hosts)].join(), /^replica-\d$/);
  },
  async (db, tally) => {
    await db('notes').insert({ rank: 1 });
    tally.written++;
  },
  async (db, tally) => {
    await db.transaction(async (trx) => {
      await trx('notes').insert({ rank: 1 });
      note(tally.wrong, 'transaction', await host(trx('here').first('host')), /^primary$/);
    });
    tally.written++;
  },
  async (db, tally) => {
    await db
      .with('added', db('notes').insert({ rank: 1 }).returning('id'))
      .select()
      .from('added');
    tally.written++;
  },
  async (db, { wrong }) => {
    await db
      .transaction(async (trx) => {
        await trx('notes').insert({ rank: 1 });
        throw new Error('changed its mind');
      })
      .catch((error: Error) => note(wrong, 'rollback', error.message, /^changed its mind$/));
  },
  async (db, { wrong }) =>
    note(
      wrong,
      'for update',
      await host(
        db('here')
          .joinRaw('cross join (select from notes for update limit 0) as locked')
          .first('host'),
      ),
      /^undefined$/,
    ),
];

describe('A mixed load', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it('has each statement on its server, and loses none', async () => {
    const { db } = await split.warm();
    const refused: unknown[] = [];
    rwSplit(db).on('misroute', (event) => refused.push(event));
    const tally: Tally = { written: 0, wrong: [] };
    const random = seededRandom(7);
    // At first sight a text may not wait long for its look-up, which a busy machine may not keep.
    for (const step of steps) await step(db, tally);
    tally.wrong.length = 0;
    let left = amount(1500);

    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (left-- > 0) await steps[Math.floor(random() * steps.length)]?.(db, tally);
      }),
    );

    expect(tally.wrong).toEqual([]);
    expect(refused).toEqual([]);
    await cluster().waitForReplay();
    for (const server of cluster().hosts) {
      const [row] = await server.query('select count(*)::int as notes from notes');
      expect(row).toEqual({ notes: tally.written });
    }
  });
});

async function host(query: PromiseLike<{ host: string } | undefined>): Promise<string | undefined> {
  return (await query)?.host;
}

function note(wrong: string[], step: string, answer: string | undefined, expected: RegExp): void {
  if (!expected.test(String(answer))) wrong.push(`${step}: ${answer}`);
}

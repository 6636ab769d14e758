import { describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import { sessionOf } from '../../../lib/knex/session-scope.ts';
import type { FakePositions } from '../../support/fake-positions.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

/** Runs texts in a transaction, and rolls it back after one that is `throw`. */
async function run(
  { db, sent, split }: FakePositions,
  texts: readonly string[],
): Promise<{ readonly captures: number; readonly isUncertain: boolean }> {
  await db
    .transaction(async (trx) => {
      for (const text of texts) {
        if (text === 'throw') throw new Error('changed my mind');
        // oxlint-disable-next-line no-await-in-loop -- one statement after the other.
        await trx.raw(text);
      }
    })
    .catch(() => undefined);
  const captures = sent().filter((line) => line.endsWith('WRITTEN')).length;
  return { captures, isUncertain: sessionOf(split().state).isUncertain };
}

describe('A transaction of a session', () => {
  it.each<[string, readonly string[], number, boolean]>([
    ['that only Knex ends', ['insert into t values (1)'], 1, false],
    ['with savepoints', ['savepoint a', 'rollback to savepoint a', 'release a'], 1, false],
    ['that raw text commits', ['commit'], 2, false],
    ['that raw text ends', ['end transaction'], 2, false],
    ['that one of several statements commits', ['select 1; commit'], 1, false],
    ['that is prepared', ["prepare transaction 'a'"], 1, false],
    ['that is rolled back', ['insert into t values (1)', 'throw'], 0, false],
    ['that was committed before it is rolled back', ['commit', 'throw'], 1, true],
    ['that may have been committed by then', ['select 1; commit', 'throw'], 0, true],
    ['that may have been prepared by then', ["prepare transaction 'a'", 'throw'], 0, true],
  ])('is captured as it is committed: %s', async (_, texts, captures, isUncertain) => {
    const servers = await make();

    expect(await run(servers, texts)).toEqual({ captures, isUncertain });
  });

  it('takes a way back to a savepoint for no end', async () => {
    const servers = await make({ consistency: { monotonic: true } });

    const texts = ['savepoint a', 'rollback to savepoint a', 'rollback work to a'];

    expect(await run(servers, texts)).toEqual({ captures: 1, isUncertain: false });
  });

  // What comes after the raw text is in no transaction, so that no ROLLBACK takes it back.
  it('is in doubt after what was run in it once it was over', async () => {
    const servers = await make();

    const { isUncertain } = await run(servers, ['commit', 'insert into t values (1)', 'throw']);

    expect(isUncertain).toBe(true);
  });
});

describe('A statement of a session', () => {
  it.each<[string, object, (db: FakePositions['db']) => PromiseLike<unknown>, string[]]>([
    ['an eventual write', {}, eventually((db) => db('t').insert({ a: 1 })), ['primary: insert']],
    ['an eventual read', {}, eventually((db) => db('t')), ['replica: select']],
    ['a strong read', { consistency: 'strong' }, (db) => db('t'), ['primary: select']],
    [
      'a strong write',
      { consistency: 'strong' },
      (db) => db('t').insert({ a: 1 }),
      ['primary: insert', 'primary: WRITTEN'],
    ],
  ])('travels alone where nothing is to be asked: %s', async (_, options, query, sent) => {
    const servers = await make(options);

    await query(servers.db);

    expect(servers.sent()).toEqual(sent);
  });

  it('leaves its session in doubt where it is a stream, whose rows come before its position', async () => {
    const servers = await make();
    const { state } = servers.split();
    const stream = servers.db.raw('insert into t select 1 returning a').stream();
    stream.resume();

    await new Promise((resolve) => stream.once('close', resolve));

    expect(sessionOf(state)).toMatchObject({ isUncertain: true });
  });
});

function eventually(
  query: (db: FakePositions['db']) => PromiseLike<unknown>,
): (db: FakePositions['db']) => Promise<unknown> {
  return (db) => rwSplit(db).session({ consistency: 'eventual' }, async () => query(db));
}

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useInstances } from '../../support/instances.ts';
import { rwSplit } from '../../../lib/index.ts';

interface Failure {
  readonly message: string;
  readonly stack: readonly string[];
  readonly events: readonly string[];
}

// One place in this file for both, since stacks show it.
async function fail(db: Knex): Promise<Failure> {
  const events: string[] = [];
  for (const event of ['start', 'query', 'query-error']) db.on(event, () => events.push(event));
  const query = db('notes')
    .where('body', undefined as never)
    .on('error', () => events.push('error'));
  const error = await query.then(
    () => new Error('no rejection'),
    (reason: Error) => reason,
  );
  return { message: error.message, stack: (error.stack ?? '').split('\n'), events };
}

describe('A query with an undefined binding', () => {
  const cluster = useRoutingDatabase();
  const { split, plain } = useInstances(cluster);

  it('fails as with pg, stack included', async () => {
    const instances = [await split({ asyncStackTraces: true }), plain({ asyncStackTraces: true })];
    const failures: Failure[] = [];

    for (const db of instances) failures.push(await fail(db));

    const [ours, expected] = failures;
    expect(ours).toEqual(expected);
    expect(ours?.message).toMatch(/^Undefined binding\(s\) detected when compiling SELECT/);
    expect(ours?.stack.join()).toContain('undefined-binding.test');
  });

  it('fails as with pg without asyncStackTraces', async () => {
    const expected = await fail(plain());

    const ours = await fail(await split());

    expect({ ...ours, stack: ours.stack[0] }).toEqual({ ...expected, stack: expected.stack[0] });
  });

  it('takes no connection', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });

    for (let i = 0; i < 3; i++) await fail(db);

    expect(
      rwSplit(db)
        .hosts()
        .map(({ pool }) => pool.used),
    ).toEqual([0, 0, 0]);
    await expect(db('notes').count()).resolves.toEqual([{ count: '0' }]);
  });

  it('fails a transaction that goes on if it is caught', async () => {
    const db = await split();

    const rows = await db.transaction(async (trx) => {
      await fail(trx);
      return trx('notes').count();
    });

    expect(rows).toEqual([{ count: '0' }]);
  });
});

import { expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { useFailover } from '../../support/failover.ts';

const { hosts, warm } = useFailover({ isHealed: false });

// Only what it is asked for can tell a process of the promotion in this test.
const unwatched = {
  consistency: 'session',
  health: { intervalMillis: 600_000, timeoutMillis: 5000 },
} as const;

const reads: readonly ((db: Knex) => PromiseLike<unknown[]>)[] = [
  (db) => db('notes').where({ body: 'after' }).pluck('body'),
  (db) => db('notes').where({ body: 'after' }).select('body').stream().toArray(),
  (db) =>
    db.transaction(async (trx) => trx('notes').where({ body: 'after' }).pluck('body'), {
      readOnly: true,
    }),
];

it('a token of after a promotion is worth the same where nobody has heard of it', async () => {
  const [, second] = hosts();
  const { db: told } = await warm();
  const manners = ['error', 'ignore'] as const;
  const cases = await Promise.all(
    manners.flatMap((invalidToken) =>
      reads.map(async (read) => ({
        invalidToken,
        read,
        db: (await warm({ rwSplit: unwatched })).db,
      })),
    ),
  );
  await second.promote();
  await awaitHost(told, second.name, ({ role }) => role === 'primary');
  const after = await rwSplit(told).session({ consistency: 'session' }, async () => {
    await told('notes').insert({ body: 'after' });
    return rwSplit(told).token();
  });

  const seen = await Promise.all(
    cases.map(async ({ invalidToken, read, db }) =>
      rwSplit(db).session({ after, invalidToken }, async () => (await read(db)).length),
    ),
  );

  expect(after).toBeDefined();
  expect(seen).toEqual(cases.map(() => 1));
});

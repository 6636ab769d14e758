import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useInstances } from '../../support/instances.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayCommits } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';

const lateMillis = 600_000;
const times = 4;

describe('Monotonic reads, with a replica that is late', () => {
  const cluster = useOwnCluster();
  const { split } = useInstances(cluster);

  beforeAll(async () => {
    await createRoutingSchema(cluster());
    const [fresh, late] = cluster().replicas;
    if (fresh === undefined || late === undefined) throw new Error('There are no two replicas.');
    await delayCommits(late, lateMillis);
    await cluster().primary.query(
      "insert into notes (body) select 'note ' || n from generate_series(1, 200) n",
    );
    await fresh.waitForReplay();
  });

  const count = async (db: Knex): Promise<number> =>
    Number((await db('notes').count({ n: '*' }))[0]?.['n']);

  /** What reads find that run one after the other, each where it may. */
  const counts = async (db: Knex): Promise<number[]> => {
    const found: number[] = [];
    for (let i = 0; i < times; i++) found.push(await count(db));
    return found;
  };

  const inSession = async <T>(db: Knex, fn: () => Promise<T>): Promise<T> =>
    rwSplit(db).session({ monotonic: true }, fn);

  it('see beside an open stream what it has shown', async () => {
    const db = await split();

    const found = await inSession(db, async () => {
      const rows = db('notes')
        .queryContext({ rwSplit: { host: 'replica-1' } })
        .stream();
      for await (const row of rows) {
        expect(row).toHaveProperty('body');
        break;
      }
      const open = db('notes')
        .queryContext({ rwSplit: { host: 'replica-1' } })
        .stream();
      let beside: number[] | undefined;
      for await (const row of open) beside ??= row && (await counts(db));
      return [...(beside ?? []), ...(await counts(db))];
    });

    expect(found).toEqual(Array(2 * times).fill(200));
  });

  it.each([
    ['read-only', true],
    ['read-write', false],
  ])('see beside a %s transaction what it has seen', async (_, readOnly) => {
    const db = await split();
    const seen: number[] = [];
    const beside: number[] = [];

    // Read-only ones take the replicas in turn, of which one has nothing.
    for (let i = 0; i < 2; i++) {
      await inSession(db, async () =>
        db.transaction(
          async (trx) => {
            const first = await count(trx);
            seen.push(first);
            if (first > 0) beside.push(...(await counts(db)));
          },
          { readOnly },
        ),
      );
    }

    expect(seen).toContain(200);
    expect(new Set(beside)).toEqual(new Set([200]));
  });
});

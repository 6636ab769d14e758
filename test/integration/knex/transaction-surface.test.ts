import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useInstances } from '../../support/instances.ts';
import { membersOf } from '../../support/members.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

type Use = (db: Knex) => Promise<unknown>;

const add = (db: Knex, id: number): Knex.QueryBuilder => db('ledger').insert({ id });
const ids = (db: Knex): Knex.QueryBuilder => db('ledger').orderBy('id').pluck('id');
const twice: Use = async (db) => {
  await add(db, 1);
  await add(db, 1);
};
const failed = async (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    (result: unknown) => ({ result }),
    (error: Error & { code?: string }) => {
      const { name, message, code } = error;
      return { name, message: message.replace(/^.*? - /, ''), code };
    },
  );

/** What an application does with transactions, and what it must not. */
const uses: Readonly<Record<string, Use>> = {
  'a function whose promise is kept': async (db) =>
    db.transaction(async (trx) => {
      await add(trx, 1);
      return 'done';
    }),
  'a function whose promise fails': async (db) =>
    db.transaction(async (trx) => {
      await add(trx, 1);
      throw new TypeError('of the application');
    }),
  'a function that throws at once': async (db) =>
    db.transaction(() => {
      throw new TypeError('of the application');
    }),
  'a function that returns a builder': async (db) =>
    db.transaction((trx) => trx('ledger').insert({ id: 1 }).returning('id')),
  'a statement that fails': async (db) => db.transaction(twice),
  'a statement that fails, and is ignored': async (db) =>
    db.transaction(async (trx) => [await failed(twice(trx)), await failed(ids(trx))]),
  'commit() with a value': async (db) =>
    db.transaction((trx) => {
      void add(trx, 1).then(() => trx.commit('value'));
    }),
  'rollback() with an error': async (db) =>
    db.transaction((trx) => {
      void add(trx, 1).then(() => trx.rollback(new RangeError('not so')));
    }),
  'rollback() without an error': async (db) =>
    db.transaction((trx) => {
      void add(trx, 1).then(() => trx.rollback());
    }),
  'a transaction of one’s own': async (db) => {
    const trx = await db.transaction();
    await add(trx, 1);
    const before = trx.isCompleted();
    const committed: unknown = await trx.commit();
    return [before, trx.isCompleted(), committed, await failed(trx.executionPromise)];
  },
  'a transaction of one’s own that is rolled back': async (db) => {
    const trx = await db.transaction();
    await add(trx, 1);
    const rolledBack = await failed(trx.rollback());
    return [trx.isCompleted(), rolledBack, await failed(trx.executionPromise)];
  },
  'a transaction of one’s own that is rolled back with an error': async (db) => {
    const trx = await db.transaction();
    const rolledBack = await failed(trx.rollback(new RangeError('not so')));
    return [rolledBack, await failed(trx.executionPromise)];
  },
  'a rollback that rejects': async (db) => {
    const trx = await db.transaction(undefined, { doNotRejectOnRollback: false });
    const rolledBack = await failed(trx.rollback());
    return [rolledBack, await failed(trx.executionPromise)];
  },
  'commit() twice': async (db) => {
    const trx = await db.transaction();
    await trx.commit();
    return failed(trx.commit());
  },
  'a query after commit()': async (db) => {
    const trx = await db.transaction();
    await trx.commit();
    return failed(ids(trx));
  },
  'a query after rollback()': async (db) => {
    const trx = await db.transaction();
    await trx.rollback();
    return failed(ids(trx));
  },
  'a query of a function that has returned': async (db) => {
    let kept: Knex.Transaction | undefined;
    await db.transaction(async (trx) => {
      kept = trx;
    });
    return failed(ids(kept as Knex));
  },
  'a nested transaction': async (db) =>
    db.transaction(async (trx) => {
      await add(trx, 1);
      return trx.transaction(async (inner) => {
        await add(inner, 2);
        return ids(inner);
      });
    }),
  'a nested transaction that fails, and is caught': async (db) =>
    db.transaction(async (trx) => {
      await add(trx, 1);
      return [await failed(trx.transaction(twice)), await ids(trx)];
    }),
  'a nested transaction of one’s own': async (db) =>
    db.transaction(async (trx) => {
      const inner = await trx.transaction();
      await add(inner, 2);
      await inner.rollback();
      return [inner.isCompleted(), inner.parentTransaction === trx, await ids(trx)];
    }),
  'savepoint()': async (db) =>
    db.transaction(async (trx) => {
      await trx.savepoint(async (inner) => add(inner, 3));
      return ids(trx);
    }),
  'transactionProvider()': async (db) => {
    const provide = db.transactionProvider();
    const [one, other] = await Promise.all([provide(), provide()]);
    await add(one, 1);
    await one.commit();
    return [one === other, other.isCompleted(), await failed(provide().then(ids))];
  },
  'transacting() with one that is over': async (db) => {
    const trx = await db.transaction();
    await trx.commit();
    return failed(db('ledger').transacting(trx).pluck('id'));
  },
  isolationLevel: async (db) =>
    db.transaction(async (trx) => (await trx.raw('show transaction isolation level')).rows, {
      isolationLevel: 'repeatable read',
    }),
  'an isolation level that is none': async (db) =>
    db.transaction(ids, { isolationLevel: 'loose' as Knex.IsolationLevels }),
  readOnly: async (db) => db.transaction(async (trx) => add(trx, 1), { readOnly: true }),
  'withUserParams()': async (db) => {
    const trx = await db.withUserParams({ tenant: 7 }).transaction();
    const params = trx.userParams;
    await trx.rollback();
    return params;
  },
  'a connection that is given': async (db) => {
    const connection: unknown = await db.client.acquireConnection();
    try {
      const trx = await db.transaction(undefined, { connection });
      await add(trx, 1);
      await trx.commit();
      return trx.isCompleted();
    } finally {
      await db.client.releaseConnection(connection);
    }
  },
  'queries at once': async (db) =>
    db.transaction(async (trx) => Promise.all([add(trx, 1), add(trx, 2), ids(trx)])),
  'batchInsert()': async (db) =>
    db.transaction(async (trx) =>
      trx.batchInsert('ledger', [{ id: 1 }, { id: 2 }], 1).returning('id'),
    ),
  'batchInsert().transacting()': async (db) =>
    db.transaction(async (trx) => {
      await db.batchInsert('ledger', [{ id: 1 }, { id: 2 }], 1).transacting(trx);
      return [await ids(db), await ids(trx)];
    }),
  'batchInsert() that fails half way': async (db) =>
    db.batchInsert('ledger', [{ id: 1 }, { id: 1 }], 1),
  'a schema change that is rolled back': async (db) => {
    const trx = await db.transaction();
    await trx.schema.createTable('passing', (table) => void table.integer('id'));
    await trx.rollback();
    return db.schema.hasTable('passing');
  },
  'listeners of the transaction': async (db) => {
    const heard: string[] = [];
    const trx = await db.transaction();
    trx.on('query', ({ sql }: { sql: string }) => heard.push(sql));
    await add(trx, 1);
    await trx.commit();
    return heard;
  },
};

describe('With transactions,', () => {
  const cluster = useRoutingDatabase('create table ledger (id int primary key)');
  const { split, plain } = useInstances(cluster);

  beforeEach(async () => {
    await empty();
  });

  const empty = async (): Promise<unknown> => cluster().primary.query('truncate ledger');

  /** What came of it, what was sent, and which rows are left. */
  async function observe(db: Knex, use: Use): Promise<unknown> {
    const events: string[] = [];
    for (const event of ['query', 'query-response', 'query-error']) {
      db.on(event, (first: unknown, second: unknown) => {
        const { sql } = (event === 'query-error' ? second : event === 'query' ? first : second) as {
          sql?: string;
        };
        events.push(`${event} ${numberless(sql ?? '')}`);
      });
    }
    const outcome = await failed(use(db));
    const left = await cluster().primary.query('select id from ledger order by id');
    return { outcome: numberless(JSON.stringify(outcome, known)), events, left };
  }

  it.each(Object.entries(uses))('%s does as in plain Knex', async (_, use) => {
    const [ours, theirs] = [await split(), plain()];
    const expected = await observe(theirs, use);
    await empty();

    expect(await observe(ours, use)).toEqual(expected);
  });

  it('a transaction has the members of one in plain Knex', async () => {
    const [ours, theirs] = [await (await split()).transaction(), await plain().transaction()];

    expect(membersOf(ours)).toEqual(membersOf(theirs));
    await Promise.all([ours.rollback(), theirs.rollback()]);
  });
});

/** Without the numbers that Knex gives transactions. */
function numberless(text: string): string {
  return text.replaceAll(/trx\d+/g, 'trx');
}

// Where a statement ran, which is told of it, too, and what the driver makes of it.
const known = (key: string, value: unknown): unknown =>
  key === 'rwSplit' || key === 'response' ? undefined : value;

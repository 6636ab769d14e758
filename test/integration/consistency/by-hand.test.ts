import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { eventually } from '../../support/eventually.ts';
import { useInstances } from '../../support/instances.ts';
import { inLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayCommits } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';

const lateMillis = 600_000;

// Who may write notes, and is told no position.
const schema = `
  create role humble login password 'humble';
  grant usage on schema public to humble;
  grant all on notes to humble;
  revoke execute on function pg_current_wal_insert_lsn() from public;
`;

/** A connection as the application holds it. */
interface Held {
  query(text: string): Promise<{ readonly command: string }>;
}

type Use = (db: Knex, held: Held, body: string) => PromiseLike<unknown>;

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

const isolation = async (trx: Knex): Promise<unknown> =>
  (await trx.raw('show transaction_isolation')).rows;

const uses: readonly [name: string, Use][] = [
  ['a write', async (db, held, body) => insert(db, body).connection(held)],
  [
    'a transaction',
    async (db, connection, body) =>
      db.transaction(async (trx) => insert(trx, body), { connection } as Knex.TransactionConfig),
  ],
  [
    'a transaction that says itself what it is',
    async (db, connection, body) =>
      db.transaction(
        async (trx) => {
          await trx.raw('set transaction isolation level serializable');
          await insert(trx, body);
          return isolation(trx);
        },
        { connection } as Knex.TransactionConfig,
      ),
  ],
  ...(['repeatable read', 'serializable'] as const).map((isolationLevel): [string, Use] => [
    `a ${isolationLevel} transaction`,
    async (db, connection, body) =>
      db.transaction(
        async (trx) => {
          await insert(trx, body);
          return isolation(trx);
        },
        { connection, isolationLevel } as Knex.TransactionConfig,
      ),
  ]),
  [
    'BEGIN and COMMIT by hand',
    async (db, held, body) => {
      await held.query('begin');
      await db.raw('set transaction isolation level serializable').connection(held);
      await insert(db, `${body}, first`).connection(held);
      await insert(db, body).connection(held);
      return (await held.query('commit')).command;
    },
  ],
  [
    'a write beside a stream',
    async (db, held, body) => {
      const rows = db.raw('select generate_series(1, 5) as n').connection(held).stream();
      const [, seen] = await Promise.all([insert(db, body).connection(held), rows.toArray()]);
      return seen;
    },
  ],
];

const ends: readonly [text: string, end: 'commit' | 'rollback'][] = [
  ['commit', 'rollback'],
  ['/* done */ commit', 'rollback'],
  ['-- done\nend', 'rollback'],
  ['select 1; end', 'rollback'],
  ['do $$ begin commit; end $$', 'rollback'],
  ...inLong<[string, 'commit' | 'rollback']>(
    ['end transaction', 'rollback'],
    ['rollback', 'commit'],
  ),
];

describe('A session, with a replica that is late,', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const { split, plain } = useInstances(cluster);

  beforeAll(async () => {
    await createRoutingSchema(cluster(), schema);
    await Promise.all(cluster().replicas.map(async (host) => delayCommits(host, lateMillis)));
  });

  const login = (user?: string): Knex.Config =>
    user === undefined ? {} : { connection: { ...cluster().connection(), user, password: user } };

  /** What becomes of a use of a connection that the application has taken, an error as text. */
  const outcome = async (
    db: Knex,
    use: Use,
    body: string,
    afterwards: () => Promise<unknown> = async () => undefined,
  ): Promise<unknown[]> => {
    const held = await db.client.acquireConnection();
    try {
      const became = await Promise.resolve(use(db, held, body)).catch(String);
      // Before anything is known of what else was done with the connection.
      return [became, await afterwards()];
    } finally {
      await db.client.releaseConnection(held);
    }
  };

  const found = async (db: Knex): Promise<unknown[]> => db('notes').orderBy('body').pluck('body');

  const written = async (): Promise<unknown[]> =>
    (await cluster().primary.query('select body from notes order by body')).map(
      (row) => row['body'],
    );

  it.each([
    ...uses.map(([name, use]) => ({ name, use, role: 'humble' })),
    ...uses.slice(0, 3).map(([name, use]) => ({ name, use, role: 'the owner' })),
    ...inLong(...uses.slice(3)).map(([name, use]) => ({ name, use, role: 'the owner' })),
  ])(
    'sees $name on a taken connection, which is as with pg, of $role',
    async ({ name, use, role }) => {
      const user = role === 'the owner' ? undefined : role;
      const db = await split(login(user));
      const [expected] = await outcome(plain(login(user)), use, `${name}, ${role}, pg`);

      const [actual, seen] = await rwSplit(db).session({}, async () =>
        outcome(db, use, `${name}, ${role}, split`, async () => found(db)),
      );

      expect(actual).toEqual(expected);
      expect(seen).toEqual(await written());
      expect(seen).toContain(`${name}, ${role}, split`);
    },
  );

  it('lets a transaction on a taken connection wait for its lock before it takes its snapshot', async () => {
    const db = await split();
    await db('notes').insert({ body: 'locked' });
    const other = await plain().transaction();
    await other.raw('lock table notes in exclusive mode');

    const waiting = outcome(
      db,
      async (_, connection) =>
        db.transaction(
          async (trx) => {
            await trx.raw('lock table notes in exclusive mode');
            return trx('notes').where({ body: 'locked' }).increment('rank', 1).returning('rank');
          },
          { connection, isolationLevel: 'repeatable read' } as Knex.TransactionConfig,
        ),
      '',
    );
    await untilWaiting();
    await other('notes').where({ body: 'locked' }).increment('rank', 1);
    await other.commit();

    expect(await waiting).toEqual([[{ rank: 2 }], undefined]);
  });

  it.each(ends)('sees what it committed by %j, and %s', async (text, end) => {
    const db = await split();

    const seen = await rwSplit(db).session({}, async () => {
      const trx = await db.transaction();
      await insert(trx, `before ${text}`);
      await trx.raw(text).catch(() => undefined);
      if (text === 'commit') await insert(trx, 'in no transaction');
      await trx[end]().catch(() => undefined);
      return found(db);
    });

    expect(seen).toEqual(await written());
  });

  const readOnly = { readOnly: true };
  const toWrites: readonly [string, string, Knex.TransactionConfig, string][] = [
    ['set transaction read write', 'on the primary', readOnly, 'rw'],
    ['set transaction_read_only to off', 'on the primary', readOnly, 'off'],
    ['commit', 'on the primary', readOnly, 'over'],
    [
      'set transaction read write',
      'serializable',
      { ...readOnly, isolationLevel: 'serializable' },
      'rw, serializable',
    ],
  ];

  it.each(toWrites)(
    'sees what a read-only transaction writes after %j: %s',
    async (text, _, config, body) => {
      const db = await split();

      const seen = await rwSplit(db).session({}, async () => {
        await rwSplit(db).onPrimary(async () =>
          db.transaction(async (trx) => {
            await trx.raw(text);
            await insert(trx, body);
          }, config),
        );
        return found(db);
      });

      expect(seen).toEqual(await written());
      expect(seen).toContain(body);
    },
  );

  async function untilWaiting(): Promise<void> {
    await eventually(async () => {
      const rows = await cluster().primary.query(
        "select from pg_stat_activity where wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
  }
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayCommits } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

// Longer than the tests take: what is written is on no replica while they run.
const lateMillis = 600_000;

const schema = `
  create function add_note() returns int volatile language sql
    as $$ insert into notes (rank) values (1) returning id $$;
  create view added as select add_note() as id;
  create role unprivileged login password 'unprivileged';
  grant all on notes to unprivileged;
  revoke execute on function pg_current_wal_insert_lsn() from public;
`;
const unprivileged = { user: 'unprivileged', password: 'unprivileged' };

/** Writes a note, and says which. */
type Write = (db: Knex) => Promise<number | undefined>;

const inText = async (
  query: PromiseLike<{ rows: { id: number }[] }>,
): Promise<number | undefined> => (await query).rows[0]?.id;

const seemingReads: readonly [name: string, Write][] = [
  [
    'in onPrimary()',
    (db) => rwSplit(db).onPrimary(() => inText(db.raw('select add_note() as id'))),
  ],
  [
    'in onPrimary(), by a builder',
    (db) => rwSplit(db).onPrimary(async () => (await db.first(db.raw('add_note() as id'))).id),
  ],
  [
    'in onPrimary(), by a view',
    (db) => rwSplit(db).onPrimary(async () => (await db('added').first('id'))?.id),
  ],
  ['by a view', async (db) => (await db('added').first('id'))?.id],
  [
    'with a hint for the primary',
    async (db) =>
      (await db.first(db.raw('add_note() as id')).queryContext({ rwSplit: { target: 'primary' } }))
        .id,
  ],
  [
    'with a hint for a host',
    async (db) =>
      inText(db.raw('select add_note() as id').queryContext({ rwSplit: { host: primaryOf(db) } })),
  ],
  [
    'with a comment',
    async (db) => inText(db.raw('/* rwsplit: primary */ select add_note() as id')),
  ],
];

/** What one session opens and another one writes by. */
interface Opened {
  write(db: Knex): Promise<number | undefined>;
  close?(): unknown;
}

const insert = async (db: Knex, connection?: unknown): Promise<number | undefined> => {
  const query = db('notes').insert({ rank: 1 }).returning('id');
  const [row] = await (connection === undefined ? query : query.connection(connection));
  return row?.id;
};

const openings: readonly [name: string, (db: Knex) => Promise<Opened>][] = [
  [
    'a transaction',
    async (db) => {
      const trx = await db.transaction();
      return {
        async write() {
          const id = await insert(trx);
          await trx.commit();
          return id;
        },
      };
    },
  ],
  [
    'a connection taken by hand',
    async ({ client }) => {
      const connection: unknown = await client.acquireConnection();
      return {
        write: (db) => insert(db, connection),
        close: () => client.releaseConnection(connection),
      };
    },
  ],
  [
    'a connection of the pool',
    async ({ client: { pool } }) => {
      const connection: unknown = await pool.acquire().promise;
      return { write: (db) => insert(db, connection), close: () => pool.release(connection) };
    },
  ],
  [
    'a transaction on a connection of the pool',
    async ({ client: { pool } }) => {
      const connection: unknown = await pool.acquire().promise;
      return {
        write: (db) => db.transaction((trx) => insert(trx), { connection }),
        close: () => pool.release(connection),
      };
    },
  ],
];

describe('A session sees what it wrote', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const split = useSplit(cluster);

  beforeAll(async () => {
    await createRoutingSchema(cluster(), schema);
    await Promise.all(cluster().replicas.map(async (host) => delayCommits(host, lateMillis)));
  });

  const foundAfter = async (db: Knex, write: Write): Promise<boolean> =>
    rwSplit(db).session({}, async () => {
      const id = await write(db);
      const found = await db('notes')
        .where({ id })
        .pluck('id')
        .queryContext({ rwSplit: { target: 'split' } });
      return id !== undefined && found[0] === id;
    });

  it.each(seemingReads)('by a function %s', async (_, write) => {
    const { db } = await split.warm();

    expect(await foundAfter(db, write)).toBe(true);
  });

  it('by a function of a client whose target is the primary', async () => {
    const { db } = await split.warm({ rwSplit: { target: 'primary' } });

    expect(await foundAfter(db, () => inText(db.raw('select add_note() as id')))).toBe(true);
  });

  it.each(openings)('by %s that another one opened', async (_, open) => {
    const privileged = await split.warm();
    const found: boolean[] = [];

    for (const { db } of [privileged, await unprivilegedSplit()]) {
      for (const opens of [open, inEventualSession(open)]) {
        const opened = await opens(db);
        found.push(await foundAfter(db, opened.write));
        await opened.close?.();
      }
    }

    expect(found).toEqual([true, true, true, true]);
  });

  // Whoever may not ask for positions.
  const unprivilegedSplit = () =>
    split.warm({
      connection: { ...cluster().connection(), ...unprivileged },
      rwSplit: { replicas: replicasOf(cluster()) },
    });
});

function inEventualSession<T>(open: (db: Knex) => Promise<T>): (db: Knex) => Promise<T> {
  return (db) => rwSplit(db).session({ consistency: 'eventual' }, () => open(db));
}

function primaryOf(db: Knex): string {
  const primary = rwSplit(db)
    .hosts()
    .find(({ role }) => role === 'primary');
  if (primary === undefined) throw new Error('No host is the primary.');
  return primary.name;
}

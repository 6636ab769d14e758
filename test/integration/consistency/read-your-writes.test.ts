import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { runProgram } from '../../support/child.ts';
import { inLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayCommits } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { useSplit } from '../../support/split.ts';

// Longer than the tests take: what is written is on no replica while they run.
const lateMillis = 600_000;

const schema = `
  create function add_note(text) returns int volatile language sql
    as $$ insert into notes (body) values ($1) returning id $$;
  create procedure put_note(text) language plpgsql
    as $$ begin insert into notes (body) values ($1); commit; end $$;
`;

type Write = (db: Knex, body: string) => Promise<unknown>;

const writes: readonly [name: string, Write][] = [
  ['an insert', async (db, body) => db('notes').insert({ body })],
  ['an insert that returns rows', async (db, body) => db('notes').insert({ body }).returning('id')],
  ['a write in a text', async (db, body) => db.raw('insert into notes (body) values (?)', [body])],
  [
    'a write in a WITH',
    async (db, body) =>
      db.raw('with made as (insert into notes (body) values (?) returning id) table made', [body]),
  ],
  ['a write in a function', async (db, body) => db.raw('select add_note(?)', [body])],
  [
    'a write in a function that a builder calls',
    async (db, body) => db.select(db.raw('add_note(?)', [body])),
  ],
  ['a procedure that commits', async (db, body) => db.raw('call put_note(?)', [body])],
  [
    'several statements in one text',
    async (db, body) => db.raw(`insert into notes (body) values ('${body}'); select 1`),
  ],
  [
    'a DO block',
    async (db, body) => db.raw(`do $$ begin insert into notes (body) values ('${body}'); end $$`),
  ],
  ['batchInsert()', async (db, body) => db.batchInsert('notes', [{ body }])],
  ['a stream', async (db, body) => db('notes').insert({ body }).returning('id').stream().toArray()],
  [
    'a transaction',
    async (db, body) => db.transaction(async (trx) => trx('notes').insert({ body })),
  ],
  [
    'a transaction without a callback',
    async (db, body) => {
      const trx = await db.transaction();
      await trx('notes').insert({ body });
      await trx.commit();
    },
  ],
  [
    'a savepoint',
    async (db, body) =>
      db.transaction(async (trx) =>
        trx.transaction(async (inner) => inner('notes').insert({ body })),
      ),
  ],
  [
    'a transaction whose savepoint fails',
    async (db, body) =>
      db.transaction(async (trx) => {
        await trx('notes').insert({ body });
        await trx.transaction(async (inner) => inner('nowhere')).catch(() => undefined);
      }),
  ],
  [
    'a transaction with synchronous_commit off',
    async (db, body) =>
      db.transaction(async (trx) => {
        await trx.raw('set local synchronous_commit = off');
        await trx('notes').insert({ body });
      }),
  ],
  [
    'a write beside others',
    async (db, body) =>
      Promise.all([
        db('here').first(),
        db('notes').insert({ body }),
        db.raw('select 1 / 0').catch(() => undefined),
      ]),
  ],
  [
    'a write of a session within',
    async (db, body) => rwSplit(db).session({}, async () => db('notes').insert({ body })),
  ],
];

type Read = (db: Knex, body: string) => Promise<number>;

const reads: readonly [name: string, Read][] = [
  ['a builder', async (db, body) => (await db('notes').where({ body })).length],
  [
    'a text',
    async (db, body) => (await db.raw('select id from notes where body = ?', [body])).rows.length,
  ],
  ['a stream', async (db, body) => (await db('notes').where({ body }).stream().toArray()).length],
  [
    'a read-only transaction',
    async (db, body) =>
      db.transaction(async (trx) => (await trx('notes').where({ body })).length, {
        readOnly: true,
      }),
  ],
  [
    'a read-write transaction',
    async (db, body) => db.transaction(async (trx) => (await trx('notes').where({ body })).length),
  ],
  [
    'one of several reads',
    async (db, body) => {
      const found = await Promise.all(
        Array.from({ length: 5 }, async () => (await db('notes').where({ body })).length),
      );
      return Math.min(...found);
    },
  ],
  [
    'a read in a timer',
    async (db, body) =>
      new Promise((resolve) => {
        setTimeout(() => resolve(db('notes').where({ body }).pluck('id')), 1);
      }).then((ids) => (ids as number[]).length),
  ],
  [
    'a read of a session within',
    async (db, body) =>
      rwSplit(db).session({}, async () => (await db('notes').where({ body })).length),
  ],
];

describe('With replicas that are late', () => {
  const cluster = useOwnCluster();
  const split = useSplit(cluster);
  let bodies = 0;

  beforeAll(async () => {
    await createRoutingSchema(cluster(), schema);
    await Promise.all(cluster().replicas.map(async (host) => delayCommits(host, lateMillis)));
  });

  const newBody = (): string => `note ${bodies++}`;

  const foundAfter = async (db: Knex, write: Write): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const [name, read] of reads) {
      const body = newBody();
      await rwSplit(db).session({}, async () => {
        await write(db, body);
        found[name] = await read(db, body);
      });
    }
    return found;
  };

  it.each(writes)('a session sees %s, however it reads', async (_, write) => {
    const { db } = await split.warm();

    expect(await foundAfter(db, write)).toEqual(
      Object.fromEntries(reads.map(([name]) => [name, 1])),
    );
  });

  // What is written in a session is of no concern to the client as a whole.
  it.each([...writes.slice(0, 4), ...inLong(...writes.slice(4, -1))])(
    'a client without sessions sees %s',
    async (_, write) => {
      const { db } = await split.warm();
      const body = newBody();

      await write(db, body);

      expect(await db('notes').where({ body }).pluck('body')).toEqual([body]);
    },
  );

  it('another session reads from a replica all the while, which does not have it', async () => {
    const { db } = await split.warm();
    const body = newBody();

    const own = await rwSplit(db).session({}, async () => {
      await db('notes').insert({ body });
      return db('notes').where({ body }).first(db.raw('served_by() as server'));
    });
    const others = await rwSplit(db).session({}, async () => [
      await db('here').pluck('host'),
      await db('notes').where({ body }),
    ]);

    expect(own).toEqual({ server: 'primary' });
    expect(others).toEqual([[expect.stringMatching(/^replica/)], []]);
  });

  it('what was rolled back keeps a session away from no replica', async () => {
    const { db } = await split.warm();

    const hosts = await rwSplit(db).session({}, async () => {
      const trx = await db.transaction();
      await trx('notes').insert({ rank: 1 });
      await trx.rollback();
      await db('nowhere')
        .insert({ rank: 1 })
        .catch(() => undefined);
      return db('here').pluck('host');
    });

    expect(hosts).toEqual([expect.stringMatching(/^replica/)]);
  });

  it.each([
    ['eventual', 'replica'],
    ['session', 'primary'],
    ['strong', 'primary'],
  ] as const)("'%s' reads from a %s after a write", async (consistency, role) => {
    const { db } = await split.warm();
    const hosts: unknown[] = [];

    await rwSplit(db).session({ consistency }, async () => {
      await db('notes').insert({ rank: 1 });
      hosts.push(...(await db('here').pluck('host')));
    });
    await rwSplit(db).session({}, async () => {
      await db('notes').insert({ rank: 1 });
      hosts.push(...(await db('here').pluck('host').queryContext({ rwSplit: { consistency } })));
    });

    expect(hosts).toEqual(Array(2).fill(expect.stringMatching(new RegExp(`^${role}`))));
  });

  it('a new process sees what the session of its token wrote, from the primary', async () => {
    const { db } = await split.warm();
    const body = newBody();
    const token = await rwSplit(db).session({}, async () => {
      await db('notes').insert({ body });
      return rwSplit(db).token();
    });

    expect(await readInNewProcess(token, body)).toEqual({
      exitCode: 0,
      stderr: '',
      printed: [[{ server: 'primary' }], []],
    });
  });

  it('a new process waits for a replica, as long as it may', async () => {
    const { db } = await split.warm();
    const body = newBody();
    const token = await rwSplit(db).session({}, async () => {
      await db('notes').insert({ body });
      return rwSplit(db).token();
    });
    await Promise.all(cluster().replicas.map(async (host) => delayCommits(host, 1500)));

    expect(await readInNewProcess(token, body, 10_000)).toMatchObject({
      exitCode: 0,
      stderr: '',
      printed: [[{ server: expect.stringMatching(/^replica/) }], expect.anything()],
    });
  });

  /** Who serves a read of a session with a token in a new process, and what others are served there. */
  async function readInNewProcess(
    token: string | undefined,
    body: string,
    waitMillis = 0,
  ): Promise<unknown> {
    return runProgram(`
      const { RWSplitClient, rwSplit } = library();
      const db = knex({ client: RWSplitClient, connection: ${JSON.stringify(cluster().url)} });
      const query = () =>
        db('notes').where({ body: ${JSON.stringify(body)} }).select(db.raw('served_by() as server'));
      const read = async () => query();
      await rwSplit(db).checkNow();
      // On a busy machine the first look at what it calls may take too long.
      for (let n = 0; n < 20 && (await rwSplit(db).explain(query())).intent !== 'read'; n++);
      const options = { after: ${JSON.stringify(token)}, waitMillis: ${waitMillis} };
      const rows = await rwSplit(db).session(options, read);
      print([rows, await rwSplit(db).session({}, read)]);
      await db.destroy();
    `);
  }
});

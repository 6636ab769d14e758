import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { untilIdle, useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const changes: [string, string][] = [
  ['SET', "set search_path to 'changed'"],
  ['RESET', 'reset search_path'],
  ['set_config for the session', "select set_config('app.tenant', 'a', false)"],
  ['LISTEN', 'listen news'],
  ['PREPARE', 'prepare one as select 1'],
  ['a temporary table', 'create temporary table short (id int)'],
  ['a temporary table made by SELECT', 'select 1 as id into temporary short'],
  ['SET ROLE', 'set role none'],
  ['SET SESSION AUTHORIZATION', 'set session authorization default'],
  ['DISCARD', 'discard plans'],
  ['a cursor that outlives its transaction', 'declare c cursor with hold for select 1'],
  ['several statements', 'set statement_timeout = 0; select 1'],
];

describe('Raw text that changes its session', () => {
  const cluster = useRoutingDatabase();
  const { split, warnings } = useInstances(cluster);

  const pid = async (db: Knex): Promise<unknown> =>
    (await db.raw('select pg_backend_pid() as pid')).rows[0].pid;
  const changeWarnings = (): readonly string[] =>
    warnings().filter((text) => text.includes('changed the state'));

  /** Runs `use`, and says whether the primary's one connection was closed for it. */
  async function isReplaced(db: Knex, use: () => Promise<unknown>): Promise<boolean> {
    const before = await pid(db);
    await use();
    await untilIdle(db);
    return (await pid(db)) !== before;
  }

  it.each(changes)(
    'runs on the primary, once, is warned about once, and its connection is not reused: %s',
    async (_, text) => {
      const db = await split({ pool: { min: 0, max: 1 } });
      const hosts: string[] = [];
      db.on('query', ({ sql, rwSplit: route }) => sql === text && hosts.push(route.role));

      const replaced = [
        await isReplaced(db, async () => db.raw(text)),
        await isReplaced(db, async () => db.raw(text)),
      ];

      expect(hosts).toEqual(['primary', 'primary']);
      expect(replaced).toEqual([true, true]);
      // Literals, which may be secrets, are left out.
      const shown = text.replaceAll(/'[^']*'/g, "'…'");
      expect(changeWarnings()).toEqual([expect.stringContaining(shown)]);
    },
  );

  it.each(changes.filter(([name]) => name !== 'DISCARD'))(
    'has its connection replaced after a transaction: %s',
    async (_, text) => {
      const db = await split({ pool: { min: 0, max: 1 } });

      const replaced = await isReplaced(db, async () =>
        db.transaction(async (trx) => trx.raw(text)),
      );

      expect(replaced).toBe(true);
      expect(changeWarnings()).toHaveLength(1);
    },
  );

  it.each([
    ['is too long to be read', `set application_name = '${'x'.repeat(33_000)}'`],
    ['cannot be parsed', "set application_name = 'changed'; selec 1"],
    ['cannot be parsed, and begins with a comment', "/* c */ SET application_name = 'x'; selec 1"],
  ])('has its connection replaced where the text %s', async (_, text) => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () => db.raw(text).catch(String));

    expect(replaced).toBe(true);
  });

  it.each([
    ['is too long to be read', `select '${'x'.repeat(33_000)}'`],
    ['cannot be parsed', 'selec 1'],
  ])('keeps its connection where the text %s, and looks like no change', async (_, text) => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () => db.raw(text).catch(String));

    expect(replaced).toBe(false);
  });

  it('has its connection replaced after a nested transaction that was rolled back', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () =>
      db.transaction(async (trx) => {
        await trx
          .transaction(async (inner) => {
            await inner.raw('listen news');
            throw new Error('no');
          })
          .catch(String);
      }),
    );

    expect(replaced).toBe(true);
  });

  it.each(['set statement_timeout = 1', 'create temporary table t ()'])(
    'changes nothing where its transaction has ended, and another one has the connection: %s',
    async (late) => {
      const db = await split({ pool: { min: 0, max: 1 } });
      const ended = await db.transaction();
      await ended.commit();

      await db.transaction(async (trx) => {
        const before = await pid(trx);
        await expect(ended.raw(late)).rejects.toThrow('Transaction query already complete');
        expect(await pid(trx)).toBe(before);
      });
      const replaced = await isReplaced(db, async () => {
        const running = db.raw("select pg_sleep(0.1), nextval('notes_id_seq')");
        await expect(ended.raw(late)).rejects.toThrow('Transaction query already complete');
        // As plain Knex has it.
        expect(await ended.raw(late).stream((stream) => stream.resume())).toBeUndefined();
        await running;
      });

      expect(replaced).toBe(false);
      expect(changeWarnings()).toEqual([]);
      expect(rwSplit(db).hosts()[0]?.pool).toMatchObject({ used: 0, free: 1 });
    },
  );

  it('has its connection replaced where it was held by hand', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () => {
      const connection = (await db.client.acquireConnection()) as object;
      await db.raw("set search_path to 'changed'").connection(connection);
      const { rows } = await db.raw('show search_path').connection(connection);
      expect(rows).toEqual([{ search_path: 'changed' }]);
      await db.client.releaseConnection(connection);
    });

    expect(replaced).toBe(true);
    expect(changeWarnings()).toHaveLength(1);
  });

  it('has its connection replaced where the readiness probe of an application took it from client.pool', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () => {
      const connection = (await db.client.pool.acquire().promise) as object;
      await db.raw('listen news').connection(connection);
      await db.client.releaseConnection(connection);
    });

    expect(replaced).toBe(true);
  });

  it.each([
    ['SET LOCAL', "set local search_path to 'changed'"],
    ['set_config for the transaction', "select set_config('app.tenant', 'a', true)"],
    ['SET TRANSACTION', 'set transaction isolation level repeatable read'],
    ['SET CONSTRAINTS', 'set constraints all deferred'],
    [
      'a temporary table that ends with its transaction',
      'create temporary table short (id int) on commit drop',
    ],
    [
      'a temporary copy that ends with its transaction',
      'create temporary table short on commit drop as select 1',
    ],
  ])('that ends with its transaction does nothing of the kind: %s', async (_, text) => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () => db.transaction(async (trx) => trx.raw(text)));

    expect(replaced).toBe(false);
    expect(changeWarnings()).toEqual([]);
  });

  it('is warned about once for each distinct text', async () => {
    const db = await split();

    for (const name of ['a', 'b', 'a', 'b']) await db.raw(`listen ${name}`);

    expect(changeWarnings()).toHaveLength(2);
  });

  it.each([
    'begin',
    'BEGIN ISOLATION LEVEL SERIALIZABLE',
    '/* c */ start transaction',
    'begin; select 1',
    'begin; savepoint a',
    'begin; commit and chain',
  ])('is refused where it would leave a transaction open: %s', async (text) => {
    const db = await split();

    await expect(db.raw(text)).rejects.toMatchObject({
      name: 'SessionStateError',
      code: 'RWSPLIT_STATE',
      message: expect.stringContaining('knex.transaction()'),
    });
  });

  it('is refused where it would set a savepoint outside a transaction', async () => {
    const db = await split();

    await expect(db.raw('savepoint a')).rejects.toThrow('knex.transaction()');
  });

  it('runs a whole transaction that is one text', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () =>
      db.raw("begin; insert into notes (body) values ('one text'); commit"),
    );

    expect(replaced).toBe(false);
    expect(
      await db.transaction(async (trx) => trx('notes').where({ body: 'one text' }).pluck('body')),
    ).toEqual(['one text']);
  });

  it('sets savepoints in a transaction', async () => {
    const db = await split();

    await db.transaction(async (trx) => {
      await trx.raw('savepoint a');
      await trx.raw('select 1 / 0').catch(String);
      await trx.raw('rollback to savepoint a');
      await trx('notes').insert({ body: 'kept' });
    });

    expect(
      await db.transaction(async (trx) => trx('notes').where({ body: 'kept' }).pluck('body')),
    ).toEqual(['kept']);
  });

  it.each([
    ['open', ['begin']],
    ['failed', ['begin', 'select 1 / 0']],
  ])(
    'leaves a connection that is given back in a transaction that is %s to nobody',
    async (_, texts) => {
      const db = await split({ pool: { min: 0, max: 1 } });

      const replaced = await isReplaced(db, async () => {
        const connection = (await db.client.acquireConnection()) as object;
        for (const text of texts) await db.raw(text).connection(connection).catch(String);
        await db.client.releaseConnection(connection);
      });

      expect(replaced).toBe(true);
      expect(rwSplit(db).hosts()[0]?.pool).toMatchObject({ used: 0, free: 1 });
    },
  );

  it('leaves a whole text that failed half-way on a connection that is not reused', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });

    const replaced = await isReplaced(db, async () =>
      db.raw('begin; select 1 / 0; commit').catch(String),
    );

    expect(replaced).toBe(true);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit, SessionStateError } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { useTenants } from '../../support/tenants.ts';

describe('A statement in a wanted state', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 3);
  const splits = useSplit(cluster);
  const [one = '', other = '', third = ''] = tenants.names;

  function start(more: Knex.Config['rwSplit'] = {}, pool: Knex.PoolConfig = { max: 1 }): Knex {
    return splits.cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { replicas: replicasOf(cluster()), ...more },
      pool,
    }).db;
  }
  const of = (db: Knex, name: string): Knex => rwSplit(db).withState(tenants.state(name));

  it.each(['primary', 'replica'] as const)('sees its tenant’s own, on a %s', async (target) => {
    const db = start({ target });

    for (const name of [one, other, one, third, third]) {
      expect(await viewQuery(of(db, name))).toEqual([viewOf(name)]);
    }
  });

  it('leaves nothing for the next one without a state', async () => {
    const db = start({ target: 'primary' });

    await viewQuery(of(db, one));

    const { rows } = await db.raw(
      "select current_user, current_setting('app.tenant') as tenant, current_setting('search_path') as path",
    );
    expect(rows).toEqual([
      { current_user: tenants.login.user, tenant: '', path: '"$user", public' },
    ]);
  });

  it('may be a role alone', async () => {
    const db = start({ target: 'primary' });

    const whoAmI = async (by: Knex): Promise<unknown> =>
      (await by.raw('select current_user as name')).rows[0].name;

    expect(await whoAmI(rwSplit(db).withState({ role: one }))).toBe(one);
    expect(await whoAmI(db)).toBe(tenants.login.user);
    expect(await whoAmI(rwSplit(db).withState({ role: other }))).toBe(other);
    expect(await whoAmI(rwSplit(db).withState({ role: other }).withUserParams({}))).toBe(other);
  });

  it('has it in transactions, streams, schema builders, and whatever is derived again', async () => {
    const db = of(start({ target: 'primary' }), one);

    const inTransaction = await db.transaction(async (trx) => {
      await trx.transaction((nested) => nested('whose').insert({ name: 'x' }));
      return trx('whose').pluck('name');
    });
    expect(inTransaction).toEqual([one, 'x']);

    const rows: unknown[] = [];
    for await (const row of db('whose').stream()) rows.push(row);
    expect(rows).toEqual([{ name: one }, { name: 'x' }]);

    await db.schema.createTable('made', (table) => table.increments());
    const made = await cluster().primary.query(
      `select schemaname, tableowner from pg_tables where tablename = 'made'`,
    );
    expect(made).toEqual([{ schemaname: one, tableowner: one }]);
    await db.schema.dropTable('made');
    await db('whose').where({ name: 'x' }).delete();

    const derived = rwSplit(db).withState({ settings: { statement_timeout: 7000 } });
    const { rows: shown } = await derived.raw(
      "select current_user, current_setting('statement_timeout') as timeout",
    );
    expect(shown).toEqual([{ current_user: one, timeout: '7s' }]);
  });

  it('has what surrounds it, under what its instance wants', async () => {
    const db = start({
      target: 'primary',
      state: { settings: { lock_timeout: 100, work_mem: '1MB' } },
    });
    const state = rwSplit(db).inState({ role: one, settings: { work_mem: '2MB' } }, async () => {
      const { rows } = await rwSplit(db)
        .withState({ settings: { 'app.x': 1 } })
        .raw(
          "select current_user as u, current_setting('work_mem') as w, current_setting('lock_timeout') as l, current_setting('app.x') as x",
        );
      return rows;
    });

    expect(await state).toEqual([{ u: one, w: '2MB', l: '100ms', x: '1' }]);
  });

  it('takes names for what they are', async () => {
    const db = start({ target: 'primary' });
    const name = `${one}"; drop schema "${other}" cascade; --`;
    const quoted = `"${name.replaceAll('"', '""')}"`;
    await cluster().primary.query(
      `create schema ${quoted}; grant usage on schema ${quoted} to public`,
    );

    const { rows } = await rwSplit(db)
      .withState({ searchPath: name, settings: { 'app.tenant': `'; reset role; --` } })
      .raw("select current_schema() as schema, current_setting('app.tenant') as tenant");

    expect(rows).toEqual([{ schema: name, tenant: `'; reset role; --` }]);
  });

  it.each<[string, (db: Knex) => PromiseLike<unknown>]>([
    ['a query', (db) => db('app.notes').insert({ text: 'wrong' })],
    ['raw text', (db) => db.raw("insert into app.notes (text) values ('wrong')")],
    ['several', (db) => db.raw("select 1; insert into app.notes (text) values ('wrong')")],
    ['a transaction', (db) => db.transaction((trx) => trx('app.notes').insert({ text: 'wrong' }))],
    ['a stream', (db) => consume(db('app.notes').insert({ text: 'wrong' }).stream())],
    ['DDL', (db) => db.schema.raw('create table app.wrong ()')],
  ])('is not run where the state is refused: %s', async (_, run) => {
    const db = start({ target: 'primary' });
    const before = await db.raw('select pg_backend_pid() as pid');

    const error = await thrownBy(run(rwSplit(db).withState({ role: cluster().user })));

    expect(error).toBeInstanceOf(SessionStateError);
    expect((error as Error).cause).toMatchObject({ code: '42501' });
    const after = await db.raw('select pg_backend_pid() as pid');
    expect(after.rows).not.toEqual(before.rows);
    const wrong = await cluster().primary.query(
      "select 1 from app.notes where text = 'wrong' union all select 1 from pg_tables where tablename = 'wrong'",
    );
    expect(wrong).toEqual([]);
  });

  it('can have defaults of transactions', async () => {
    const db = start({ target: 'primary' });
    const readOnly = rwSplit(db).withState({
      ...tenants.state(one),
      settings: { default_transaction_read_only: true },
    });

    const insert = { text: 'refused' };
    await expect(readOnly('notes').insert(insert)).rejects.toMatchObject({ code: '25006' });
    await viewQuery(of(db, one));
    await expect(readOnly.transaction((trx) => trx('notes').insert(insert))).rejects.toMatchObject({
      code: '25006',
    });
    await of(db, one)('notes').insert({ text: 'taken' });
    await of(db, one)('notes').where({ text: 'taken' }).delete();
  });

  it('runs what no batch can have', async () => {
    const db = of(start({ target: 'primary' }), one);

    await db.raw('vacuum whose');
    await of(db, other).raw('create index concurrently on whose (name)');
    await db.raw('select 1; select 2');
  });
});

async function consume(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const row of rows) expect(row).toBeUndefined();
}

async function thrownBy(run: PromiseLike<unknown>): Promise<unknown> {
  try {
    await run;
  } catch (error) {
    return error;
  }
  return undefined;
}

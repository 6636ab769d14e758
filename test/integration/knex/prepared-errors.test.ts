import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { useDatabase } from '../../support/database.ts';
import { preparedOf, twice } from '../../support/prepared.ts';
import { useSplit } from '../../support/split.ts';

const schema = `
  create table items (id int primary key, body varchar(3) not null, n int check (n > 0));
  insert into items values (1, 'one', 1);
  create sequence tries;
  create function fails(n int) returns int language plpgsql as $$ begin
    raise exception 'no %', n using errcode = 'P0001', detail = 'd', hint = 'h';
  end $$;
`;

// Each runs well first, so that it has its name by the time that it fails.
const failures: readonly (readonly [
  name: string,
  code: string,
  run: (db: Knex, isToFail: boolean) => PromiseLike<unknown>,
])[] = [
  [
    'a syntax error',
    '42601',
    (db, fails) => db.raw(fails ? 'select ? from from' : 'select 1', fails ? [1] : []),
  ],
  ['a missing column', '42703', (db, fails) => db('items').select(fails ? 'gone' : 'id')],
  ['a duplicate', '23505', (db, fails) => add(db, fails ? 1 : undefined)],
  ['a null', '23502', (db, fails) => add(db, fails ? 99 : undefined, fails ? null : 'x')],
  ['a check', '23514', (db, fails) => add(db, fails ? 99 : undefined, 'x', fails ? -1 : 1)],
  [
    'a text that is too long',
    '22001',
    (db, fails) => add(db, fails ? 99 : undefined, fails ? 'long' : 'x'),
  ],
  ['a value of another kind', '22P02', (db, fails) => db('items').where({ id: fails ? 'a' : 1 })],
  ['a number out of range', '22003', (db, fails) => db('items').where({ id: fails ? 3e9 : 1 })],
  ['a division', '22012', (db, fails) => db.raw('select 1 / ?::int', [fails ? 0 : 1])],
  [
    'an exception',
    'P0001',
    (db, fails) => db.raw('select case when ? then fails(id) end from items', [fails]),
  ],
];

let lastId = 100;

function add(db: Knex, id = ++lastId, body: string | null = 'x', n = 1): PromiseLike<unknown> {
  return db('items').insert({ id, body, n });
}

describe('An error of a statement that was prepared by name', () => {
  const cluster = useDatabase();
  const splits = useSplit(cluster);
  let plain: Knex;

  beforeAll(async () => {
    await cluster().primary.query(schema);
    await cluster().waitForReplay();
    plain = knex({ client: 'pg', connection: cluster().connection() });
  });
  afterAll(() => plain.destroy());

  async function failureOf(
    db: Knex,
    run: (db: Knex) => PromiseLike<unknown>,
  ): Promise<Record<string, unknown>> {
    const told: unknown[] = [];
    const tell = (error: unknown): unknown => told.push(error);
    db.on('query-error', tell);
    const [outcome] = await Promise.allSettled([run(db)]);
    db.off('query-error', tell);
    const error = (outcome as PromiseRejectedResult).reason as Error;
    expect(told).toEqual([error]);
    const { message, stack = '' } = error;
    const fields = Object.entries(error).filter(([name]) => name !== 'rwSplit');
    return { ...Object.fromEntries(fields), message, firstLine: stack.split('\n')[0] };
  }

  it.each(failures)('is that of plain Knex: %s (%s)', async (_, code, run) => {
    const rwSplit = { replicas: [], prepare: { max: 50 } };
    const { db } = await splits.warm({ pool: { max: 1 }, rwSplit });
    await twice(() => run(db, false));
    const prepared = await preparedOf(db);
    const expected = await failureOf(plain, (of) => run(of, true));

    const errors = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other.
    for (let turn = 0; turn < 3; turn++) errors.push(await failureOf(db, (of) => run(of, true)));

    expect(prepared).toHaveLength(1);
    expect(expected['code']).toBe(code);
    expect(errors).toEqual([expected, expected, expected]);
  });

  it('says once where it ran', async () => {
    const rwSplit = { replicas: [], prepare: { max: 50 } };
    const { db } = await splits.warm({ pool: { max: 1 }, rwSplit });
    await twice(() => db('items').where({ id: 1 }));

    await expect(db('items').where({ id: 'a' })).rejects.toMatchObject({
      rwSplit: { role: 'primary', attempts: [{ code: '22P02' }] },
    });
  });

  it('comes of a single run where the statement was run', async () => {
    const rwSplit = { replicas: [], prepare: { max: 50 } };
    const { db } = await splits.warm({ pool: { max: 1 }, rwSplit });
    const divide = (by: number): PromiseLike<unknown> =>
      db.raw("select nextval('tries') / ?::int as result", [by]);
    await twice(() => divide(1));

    await expect(divide(0)).rejects.toMatchObject({ code: '22012' });

    expect(await divide(1)).toMatchObject({ rows: [{ result: '4' }] });
  });

  it('is that of Knex where its time is up', async () => {
    const rwSplit = { replicas: [], prepare: { max: 50 } };
    const { db } = await splits.warm({ pool: { max: 1 }, rwSplit });
    const doze = (seconds: number): Knex.Raw => db.raw('select pg_sleep(?)', [seconds]);
    await twice(() => doze(0));

    await expect(doze(60).timeout(50, { cancel: true })).rejects.toThrow(
      'Defined query timeout of 50ms exceeded',
    );

    expect(await doze(0)).toMatchObject({ rowCount: 1 });
  });
});

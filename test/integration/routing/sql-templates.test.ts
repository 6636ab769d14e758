import sql from '@databases/sql';
import { describe, expect, it } from '@jest/globals';
import { onPrimary, rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

const attack = "'; drop table notes; --";

// What is given as a value, and what PostgreSQL answers as its text.
const values: [string, unknown, string][] = [
  ['a text', 'plain', 'plain'],
  ['an attack', attack, attack],
  ['a question mark', 'why?', 'why?'],
  ['a placeholder', '$1', '$1'],
  ['a backslash', String.raw`\'`, String.raw`\'`],
  ['a number', 7, '7'],
  ['a boolean', true, 'true'],
  ['a date', new Date('2024-02-29T12:00:00Z'), '2024-02-29'],
  ['an array', ['a', 'b"c'], String.raw`{"a","b\"c"}`],
  ['an object', { a: 1 }, '{"a":1}'],
  [
    'what looks like a raw of Knex',
    { isRawInstance: true, toSQL: () => ({ sql: attack }) },
    '{"isRawInstance":true}',
  ],
  [
    'what looks like a builder of Knex',
    { toSQL: () => ({ sql: attack, bindings: [] }), toQuery: () => attack },
    '{}',
  ],
];

describe('query(sql`…`)', () => {
  const cluster = useRoutingDatabase(`
    create table products (id int, body jsonb, "Odd ""name""" text, "select" int, at timestamptz);
    insert into products values (1, '{"tag":true}', 'odd', 2, '2024-02-29T12:00:00Z');
  `);
  const split = useSplit(cluster, 'eventual');

  it('sends a read to a replica and a write to the primary', async () => {
    const { db, servers } = await split.warm();
    const handle = rwSplit(db);

    const rows = await handle.query<{ id: number }>(sql`select id from products where id = ${1}`);
    await handle.query(sql`insert into notes (body) values (${'from a template'})`);

    expect(rows).toEqual([{ id: 1 }]);
    expect(servers()).toEqual([expect.stringMatching(/^replica/), 'primary']);
  });

  it.each(values)('sends values as they are: %s', async (_, value, text) => {
    const { db } = await split.warm();

    const rows = await rwSplit(db).query<{ text: string }>(sql`select ${value}::text as text`);

    expect(rows[0]?.text.replace(/T.*/, '')).toBe(text);
    expect(
      await cluster().primary.query("select from pg_tables where tablename = 'notes'"),
    ).toHaveLength(1);
  });

  it('sends null and undefined as null', async () => {
    const { db } = await split.warm();

    const rows = await rwSplit(db).query(
      sql`select ${null}::text is null as first, ${undefined}::text is null as second`,
    );

    expect(rows).toEqual([{ first: true, second: true }]);
  });

  it('keeps arrays and objects usable as arrays and JSON', async () => {
    const { db } = await split.warm();
    const handle = rwSplit(db);

    await expect(
      handle.query(sql`select id from products where id = any(${[1, 2]})`),
    ).resolves.toEqual([{ id: 1 }]);
    await expect(
      handle.query(sql`select id from products where body @> ${{ tag: true }}`),
    ).resolves.toEqual([{ id: 1 }]);
    await expect(
      handle.query(sql`select id from products where at = ${new Date('2024-02-29T12:00:00Z')}`),
    ).resolves.toEqual([{ id: 1 }]);
  });

  it.each([
    ['?', sql`select id from products where body ? 'tag'`],
    ['? beside a value', sql`select id from products where body ? ${'tag'}`],
    ['?| and ?&', sql`select id from products where body ?| ${['tag']} and body ?& ${['tag']}`],
    ['@?', sql`select id from products where body @? ${'$.tag'}`],
    ['? in a text', sql`select id from products where '?' <> ${'tag'}`],
    [String.raw`\? in a text`, sql`select id from products where ${1} = 1 and '\\?' <> ''`],
  ])('takes a question mark for what PostgreSQL takes it for: %s', async (_, query) => {
    const { db, servers } = await split.warm();

    await expect(rwSplit(db).query(query)).resolves.toEqual([{ id: 1 }]);
    expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
  });

  it('quotes identifiers', async () => {
    const { db } = await split.warm();
    const [odd, keyword] = [sql.ident('products', 'Odd "name"'), sql.ident('select')];

    const rows = await rwSplit(db).query(
      sql`select ${odd} as odd, ${keyword} as two from ${sql.ident('public', 'products')}`,
    );

    expect(rows).toEqual([{ odd: 'odd', two: 2 }]);
  });

  it('takes templates apart and together', async () => {
    const { db, servers } = await split.warm();
    const conditions = [sql`id = ${1}`, sql`body ? ${'tag'}`];

    const rows = await rwSplit(db).query(
      sql`select id from products where ${sql.join(conditions, ' AND ')}`,
    );

    expect(rows).toEqual([{ id: 1 }]);
    expect(servers()).toHaveLength(1);
  });

  it('runs in the transaction that it is asked of', async () => {
    const { db } = await split.warm();

    const rows = await db.transaction(async (trx) => {
      await trx('notes').insert({ body: 'in the transaction' });
      return rwSplit(trx).query(sql`select rank from notes where body = ${'in the transaction'}`);
    });

    expect(rows).toEqual([{ rank: 0 }]);
  });

  it('follows the hints of text and scope', async () => {
    const { db, servers } = await split.warm();
    const handle = rwSplit(db);

    await handle.query(sql`/* rwsplit: primary */ select 1`);
    await handle.onPrimary(async () => handle.query(sql`select 1`));
    await onPrimary(db('notes').select());

    expect(servers()).toEqual(['primary', 'primary', 'primary']);
  });

  it('shows its text and values in the events and errors of Knex', async () => {
    const { db } = await split.warm();
    const seen: unknown[] = [];
    db.on('query', ({ bindings }: { bindings: unknown }) => seen.push(bindings));

    const failure = rwSplit(db).query(sql`select ${'7'}::int / ${'0'}::int`);

    await expect(failure).rejects.toMatchObject({ code: '22012' });
    expect(seen).toEqual([['7', '0']]);
  });
});

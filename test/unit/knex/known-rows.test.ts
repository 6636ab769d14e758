// oxlint-disable no-underscore-dangle -- pg's names.
import { describe, expect, it } from '@jest/globals';
import { Client, types } from 'pg';
import { knownRowClass, type RowQueryClass } from '../../../lib/knex/known-rows.ts';

const { Query } = Client as unknown as { readonly Query: RowQueryClass };
const int4 = types.builtins.INT4;
const text = types.builtins.TEXT;

type Column = readonly [name: string, type?: number];

interface Answered {
  readonly _result: {
    _types: unknown;
    readonly rows: readonly unknown[];
    readonly fields: readonly { readonly name: string }[];
    addFields(...args: unknown[]): void;
  };
  readonly _results: unknown;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: unknown): void;
}

/** A query of a class to which a server gives answers, each of one row. */
function answered(
  Class: RowQueryClass,
  sql: string,
  ...answers: readonly (readonly Column[])[]
): Answered {
  const query = new Class(sql, [1], () => undefined) as unknown as Answered;
  query._result._types = types;
  for (const columns of answers) {
    const fields = columns.map(([name, dataTypeID = int4]) => ({
      name,
      dataTypeID,
      format: 'text',
    }));
    query.handleRowDescription({ fields });
    query.handleDataRow({ fields: columns.map((_, place) => String(place)) });
    query.handleCommandComplete({ text: 'SELECT 1' }, {});
  }
  return query;
}

/** The rows, columns and results of the same answers, as the driver has them, and as we do. */
function both(...asked: readonly (readonly (readonly Column[])[])[]): [unknown[], unknown[]] {
  const Fresh = class extends Query {};
  const Known = knownRowClass(Fresh);
  const told = ({ _result: { rows, fields }, _results }: Answered): unknown[] => [
    rows.map((row) => Object.entries(row as object)),
    fields,
    Array.isArray(_results) ? _results.length : 1,
  ];
  return [Fresh, Known].map((Class) =>
    asked.map((answers) => told(answered(Class, 'select $1', ...answers))),
  ) as [unknown[], unknown[]];
}

describe('knownRowClass', () => {
  // Where this fails, pg has changed what is done in its place: compare, and mend both.
  it('knows the rows of this pg: only the first description makes one', () => {
    const Known = knownRowClass(class extends Query {});
    const [first, second] = [1, 2].map(() => answered(Known, 'select $1', [['id']]));

    expect(prebuilt(second)).toBe(prebuilt(first));
    expect(prebuilt(first)).toEqual({ id: null });
  });

  it.each<[string, readonly (readonly (readonly Column[])[])[]]>([
    ['the same columns', [[[['id'], ['name', text]]], [[['id'], ['name', text]]]]],
    ['another type of a column', [[[['id']]], [[['id', text]]]]],
    ['a column more', [[[['id']]], [[['id'], ['name']]]]],
    ['a column less', [[[['id'], ['name']]], [[['id']]]]],
    ['another name', [[[['id']]], [[['number']]]]],
    ['another order', [[[['id'], ['name']]], [[['name'], ['id']]]]],
    ['names twice', [[[['id'], ['id']]], [[['id'], ['id']]]]],
    ['numbers as names', [[[['2'], ['1']]], [[['2'], ['1']]]]],
    ['__proto__ as a name', [[[['__proto__']]], [[['__proto__']]]]],
    ['no column', [[[]], [[]]]],
    [
      'two answers at once',
      [
        [[['id']], [['id']]],
        [[['id']], [['id']]],
      ],
    ],
    [
      'two that differ',
      [
        [[['id']], [['name']]],
        [[['id']], [['name']]],
      ],
    ],
  ])('has the rows that the driver has, with %s', (_, asked) => {
    const [theirs, ours] = both(...asked);

    expect(ours).toEqual(theirs);
  });

  it('parses by what is set when the answer comes', () => {
    const Known = knownRowClass(class extends Query {});
    const parse = types.getTypeParser(int4);
    answered(Known, 'select $1', [['id']]);
    types.setTypeParser(int4, (value) => `number ${value}`);
    try {
      expect(answered(Known, 'select $1', [['id']])._result.rows).toEqual([{ id: 'number 0' }]);
    } finally {
      types.setTypeParser(int4, parse);
    }
  });

  it('leaves it to the driver where something is wrapped around its method', () => {
    const Wrapped = class extends Query {
      override handleRowDescription(message: never): void {
        seen++;
        super.handleRowDescription(message);
      }
    };
    let seen = 0;
    const Known = knownRowClass(Wrapped);

    for (const _ of [1, 2]) answered(Known, 'select $1', [['id']]);

    expect(seen).toBe(2);
  });

  it('keeps no row of more than 100 columns', () => {
    const Known = knownRowClass(class extends Query {});
    const rowOf = (columns: number): unknown => {
      const names = Array.from({ length: columns }, (_, place): Column => [`column ${place}`]);
      return prebuilt(answered(Known, `select ${columns}`, names));
    };

    expect(rowOf(100)).toBe(rowOf(100));
    expect(rowOf(101)).not.toBe(rowOf(101));
  });

  it('forgets long texts, and all where there are too many', () => {
    const Known = knownRowClass(class extends Query {});
    const rowOf = (sql: string): unknown => prebuilt(answered(Known, sql, [['id']]));
    const long = `select ${'1'.repeat(1000)}`;

    expect(rowOf(long)).not.toBe(rowOf(long));
    const first = rowOf('select 0');
    expect(rowOf('select 0')).toBe(first);
    for (let number = 1; number <= 1000; number++) rowOf(`select ${number}`);
    expect(rowOf('select 0')).not.toBe(first);
  });
});

function prebuilt(query: Answered | undefined): unknown {
  return (query?._result as { readonly _prebuiltEmptyResultObject?: unknown } | undefined)
    ?._prebuiltEmptyResultObject;
}

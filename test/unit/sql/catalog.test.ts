import { describe, expect, it } from '@jest/globals';
import { Catalog } from '../../../lib/sql/catalog.ts';
import type { CatalogRow, RowKind } from '../../../lib/sql/catalog-query.ts';
import { type Lookups, noLookups } from '../../../lib/sql/lookups.ts';

interface Asked {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  readonly key: string;
}

function catalogOf(rows: readonly CatalogRow[]): {
  readonly catalog: Catalog;
  readonly asked: Asked[];
  readonly pass: (millis: number) => void;
} {
  const asked: Asked[] = [];
  let now = 0;
  const catalog = new Catalog({
    clock: { now: () => now, after: () => () => {}, holdFor: () => () => {} },
    expiresMillis: 60_000,
    query: async (sql, bindings, key) => {
      asked.push({ sql, bindings, key });
      return rows;
    },
  });
  return { catalog, asked, pass: (millis) => void (now += millis) };
}

const calls = (...names: string[]): Lookups => ({
  ...noLookups,
  functions: names.map((name) => ({ name })),
});

const f: CatalogRow = { kind: 'function', schema: null, name: 'f', danger: null };
const v: CatalogRow = { kind: 'function', schema: null, name: 'v', danger: 'calls v' };

describe('Catalog', () => {
  it('asks for all names of a text at once', async () => {
    const { catalog, asked } = catalogOf([]);

    await catalog.resolve(
      { ...calls('f', 'g'), relations: [{ schema: 'shop', name: 't' }, { name: 'u' }] },
      'k',
    );

    expect(asked.map(({ bindings }) => bindings)).toEqual([
      [[null, null], ['f', 'g'], ['shop', null], ['t', 'u'], [], []],
    ]);
    expect(asked[0]?.key).toBe('k');
  });

  it('asks once, and only for the names it does not know', async () => {
    const { catalog, asked } = catalogOf([f]);

    await catalog.resolve(calls('f'), '');
    await catalog.resolve(calls('f', 'g'), '');
    await catalog.resolve(calls('f', 'g'), '');

    expect(asked.map(({ bindings }) => bindings[1])).toEqual([['f'], ['g']]);
  });

  it('keeps databases, roles and search paths apart', async () => {
    const { catalog, asked } = catalogOf([f]);

    await catalog.resolve(calls('f'), 'a');
    await catalog.resolve(calls('f'), 'b');

    expect(asked.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('asks again once an answer has expired', async () => {
    const { catalog, asked, pass } = catalogOf([f]);

    await catalog.resolve(calls('f'), '');
    pass(59_999);
    await catalog.resolve(calls('f'), '');
    pass(1);
    await catalog.resolve(calls('f'), '');

    expect(asked).toHaveLength(2);
  });

  it('asks again after it was cleared', async () => {
    const { catalog, asked } = catalogOf([f]);

    await catalog.resolve(calls('f'), '');
    catalog.clear();
    await catalog.resolve(calls('f'), '');

    expect(asked).toHaveLength(2);
  });

  it('does not remember an answer that was under way when it was cleared', async () => {
    const { catalog, asked } = catalogOf([f]);

    const underWay = catalog.resolve(calls('f'), '');
    catalog.clear();
    await underWay;
    await catalog.resolve(calls('f'), '');

    expect(asked).toHaveLength(2);
  });

  it('tells the danger, the strangers and how long that holds', async () => {
    const { catalog } = catalogOf([f, v]);

    expect(await catalog.resolve(calls('f'), '')).toEqual({
      danger: undefined,
      unknown: [],
      expiresAt: 60_000,
    });
    expect(await catalog.resolve(calls('f', 'v', 'g'), '')).toMatchObject({
      danger: 'calls v',
      unknown: ['g'],
    });
  });

  it('brings along what the user says of functions', async () => {
    const asked: unknown[] = [];
    const catalog = new Catalog({
      clock: { now: () => 0, after: () => () => {}, holdFor: () => () => {} },
      functions: { read: ['Cheap'], write: ['shop.total'] },
      query: async (_, bindings) => {
        asked.push(bindings.slice(-2));
        return [];
      },
    });

    await catalog.resolve(calls('f'), '');

    expect(asked).toEqual([[['shop.total'], ['cheap']]]);
  });

  it.each<[RowKind, (name: string) => Partial<Lookups>]>([
    ['operator', (name) => ({ operators: [{ name }] })],
    ['type', (name) => ({ types: [name] })],
    ['column', (name) => ({ columns: [name] })],
    ['field', (name) => ({ fields: [name] })],
    ['implicit', (name) => ({ types: [name] })],
  ])('fetches every dangerous %s once for all names', async (kind, using) => {
    const { catalog, asked } = catalogOf([{ kind, schema: null, name: 'x', danger: 'x is bad' }]);

    const meets = await catalog.resolve({ ...noLookups, ...using('x') }, '');
    const misses = await catalog.resolve({ ...noLookups, ...using('y') }, '');

    expect([meets.danger, misses.danger]).toEqual(['x is bad', undefined]);
    expect(asked).toHaveLength(1);
  });

  it('tells the operators of a schema from those of the search path', async () => {
    const row: CatalogRow = { kind: 'operator', schema: 'shop', name: '=', danger: 'bad' };
    const { catalog } = catalogOf([row]);
    const use = (schema?: string): Lookups => ({
      ...noLookups,
      operators: [{ schema, name: '=' }],
    });

    expect((await catalog.resolve(use('shop'), '')).danger).toBe('bad');
    expect((await catalog.resolve(use(), '')).danger).toBeUndefined();
  });

  it.each<[Partial<Lookups>, string | undefined]>([
    [{ types: ['text'], relations: [{ name: 'bags' }] }, 'bad'],
    [{ types: ['text'], functions: [{ name: 'bags' }] }, 'bad'],
    [{ types: ['text', 'bags'] }, 'bad'],
    [{ types: ['int4'], relations: [{ name: 'bags' }] }, undefined],
    [{ types: ['text'], relations: [{ name: 'orders' }] }, undefined],
  ])('minds a cast only together with what carries its source: %j → %s', async (names, danger) => {
    const { catalog } = catalogOf([
      { kind: 'cast', schema: null, name: 'text', danger: 'bad' },
      { kind: 'carrier', schema: null, name: 'bags', danger: '' },
    ]);

    expect((await catalog.resolve({ ...noLookups, ...names }, '')).danger).toBe(danger);
  });

  it('remembers no more names than it may', async () => {
    const asked: unknown[] = [];
    const catalog = new Catalog({
      clock: { now: () => 0, after: () => () => {}, holdFor: () => () => {} },
      max: 2,
      query: async (_, bindings) => {
        asked.push(bindings[1]);
        return [];
      },
    });

    await catalog.resolve(calls('a', 'b', 'c'), '');
    await catalog.resolve(calls('a'), '');

    expect(asked).toEqual([['a', 'b', 'c'], ['a']]);
  });
});

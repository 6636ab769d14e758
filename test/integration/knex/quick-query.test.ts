import type { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { Client } from 'pg';
import { knexClasses } from '../../../lib/knex/internals.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

type Use = (db: Knex) => Knex.QueryBuilder | Knex.Raw;

const uses: Readonly<Record<string, Use>> = {
  rows: (db) => db('here'),
  'one row': (db) => db('here').first('one'),
  'no row': (db) => db('here').where({ one: 7 }).first(),
  'a column': (db) => db('here').pluck('one'),
  'an insert': (db) => db('notes').insert({ rank: 1 }),
  'an insert that returns': (db) => db('notes').insert({ rank: 1 }, 'rank'),
  'an update': (db) => db('notes').where({ rank: -1 }).update({ rank: 2 }),
  'raw text': (db) => db.raw('select ? as one', [1]),
  'a time limit that is kept': (db) => db('here').timeout(5000),
  'an error of the server': (db) => db('here').whereRaw('1 / (one - 1) = 0'),
  'a query context': (db) => db('here').queryContext({ tenant: 'a' }),
};

const names = ['start', 'query', 'query-response', 'query-error', 'end', 'error'];

/** What an emitter tells, without what differs from one run to the next. */
function listen(place: string, of: unknown, told: unknown[][]): void {
  for (const name of names) {
    (of as EventEmitter).on(name, (...args: unknown[]) =>
      told.push([place, name, ...args.map(show)]),
    );
  }
}

function show(value: unknown): unknown {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (typeof value === 'function') return 'a builder or instance';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (value.constructor !== Object) return value.constructor.name;
  const { rwSplit: _, response, ...rest } = value as Record<string, unknown>;
  const told = { ...rest, ...('response' in value ? { response: typeof response } : {}) };
  return Object.fromEntries(
    Object.entries(told).map(([key, each]) => [key, /uid|txid/i.test(key) ? typeof each : each]),
  );
}

async function outcome(
  db: Knex,
  use: Use,
  spoil?: (query: EventEmitter) => void,
): Promise<unknown> {
  const told: unknown[][] = [];
  const query = use(db);
  listen('builder', query, told);
  listen('instance', db, told);
  listen('client', db.client, told);
  spoil?.(query as unknown as EventEmitter);
  const result: unknown = await Promise.resolve(query).then(
    (value: unknown) => (Array.isArray(value) ? value : show(value)),
    (error: unknown) => show(error),
  );
  return { told, result };
}

describe('A query', () => {
  const cluster = useRoutingDatabase();
  const { alone, plain } = useInstances(cluster);
  const postProcessResponse = (result: unknown, context: unknown): unknown =>
    context === undefined ? result : { result, context };

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each(Object.entries(uses))('tells as plain Knex does of %s', async (_, use) => {
    const ours = await outcome(alone({ postProcessResponse }), use);

    expect(ours).toEqual(await outcome(plain({ postProcessResponse }), use));
  });

  it.each(['query', 'query-response'])(
    'fails as in plain Knex where a listener of `%s` throws',
    async (event) => {
      const spoil = (query: EventEmitter): void => {
        query.on(event, () => {
          throw new TypeError('of the application');
        });
      };
      const use: Use = (db) => db('here');
      const ours = await outcome(alone(), use, spoil);

      expect(ours).toEqual(await outcome(plain(), use, spoil));
    },
  );

  it('fails as in plain Knex where its result can’t be processed', async () => {
    const config = {
      postProcessResponse: () => {
        throw new TypeError('of the application');
      },
    };
    const use: Use = (db) => db('here');
    const ours = await outcome(alone(config), use);

    expect(ours).toEqual(await outcome(plain(config), use));
  });

  it('fails as in plain Knex where its result can’t be processed later', async () => {
    const config = {
      postProcessResponse: async () => Promise.reject(new TypeError('of the application')),
    };
    const use: Use = (db) => db('here');
    const ours = await outcome(alone(config), use);

    expect(ours).toEqual(await outcome(plain(config), use));
  });

  it('waits for a result that is processed later', async () => {
    const db = alone({ postProcessResponse: async (rows: unknown) => ({ rows }) });

    expect(await db('here').pluck('one')).toEqual({ rows: [1] });
  });

  // As tracing does.
  it('goes by way of what is wrapped around the runner of Knex', async () => {
    const { prototype } = knexClasses(knex).KnexRunner;
    const db = alone();
    await db('here');
    const wrapped = jest.spyOn(prototype, 'query');

    await db('here');
    await db.transaction(async (trx) => trx('notes').insert({ rank: 1 }));

    expect(wrapped.mock.calls.map(([{ sql }]) => sql)).toEqual([
      'select * from "here"',
      'insert into "notes" ("rank") values ($1)',
    ]);
  });

  it('is handed as in plain Knex to what is wrapped around the driver', async () => {
    const db = alone();
    await db('here');
    const seen: unknown[] = [];
    const { query } = Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
    jest
      .spyOn(Client.prototype as unknown as { query: typeof query }, 'query')
      .mockImplementation(function wrapped(this: unknown, ...args: unknown[]) {
        seen.push(args[0]);
        return query.apply(this, args);
      });

    await db('here').where({ one: 1 });

    expect(seen).toContainEqual({ text: 'select * from "here" where "one" = $1', values: [1] });
  });
});

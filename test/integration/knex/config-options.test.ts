import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

type Use = (db: Knex) => Promise<unknown>;

const read: Use = async (db) => db('facts').select('rankOf', 'id').where({ id: 1 });
const fail: Use = async (db) => db('facts').select('no_such_column').where({ id: 1 });
const failInTransaction: Use = async (db) => db.transaction(async (trx) => fail(trx));
const failRaw: Use = async (db) => db.raw('select 1 / ?::int from facts', [0]);
const throwIn: Use = async (db) =>
  db.transaction(async () => {
    throw new TypeError('of the application');
  });

const camel = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, it: string) => it.toUpperCase());
const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (it) => `_${it.toLowerCase()}`);

// What is configured, and what is done then.
const cases: [string, Knex.Config, Use][] = [
  ['nothing', {}, async (db) => db('facts').orderBy('id')],
  ['nothing, and a query fails', {}, fail],
  ['nothing, and raw text fails', {}, failRaw],
  ['nothing, and a query fails in a transaction', {}, failInTransaction],
  ['nothing, and the application fails in a transaction', {}, throwIn],
  ['wrapIdentifier', { wrapIdentifier: (name, wrap) => wrap(snake(name)) }, read],
  [
    'wrapIdentifier with a context',
    { wrapIdentifier: (name, wrap, context) => wrap((context as { to?: string })?.to ?? name) },
    async (db) => db('facts').select('x').queryContext({ to: 'facts' }).catch(String),
  ],
  [
    'postProcessResponse',
    {
      wrapIdentifier: (name, wrap) => wrap(snake(name)),
      postProcessResponse: (rows: unknown, context: unknown) => ({
        context,
        rows: Array.isArray(rows)
          ? rows.map((row: object) =>
              Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value])),
            )
          : rows,
      }),
    },
    async (db) => db('facts').select('rankOf').queryContext({ tenant: 1 }),
  ],
  ['asyncStackTraces', { asyncStackTraces: true }, fail],
  ['asyncStackTraces, and raw text', { asyncStackTraces: true }, failRaw],
  ['asyncStackTraces, and a transaction', { asyncStackTraces: true }, failInTransaction],
  ['compileSqlOnError: false', { compileSqlOnError: false }, fail],
  ['compileSqlOnError: false, in a transaction', { compileSqlOnError: false }, failInTransaction],
  ['searchPath', { searchPath: ['other', 'public'] }, async (db) => db('elsewhere').pluck('it')],
  ['searchPath as a text', { searchPath: 'other' }, async (db) => db('elsewhere').pluck('it')],
  ['version', { version: '9.6' }, async (db) => [db.client.version, await read(db).catch(String)]],
  ['debug', { debug: true }, read],
  [
    'pool.afterCreate',
    {
      pool: {
        min: 0,
        max: 2,
        afterCreate: (
          connection: { query(text: string, done: (error: unknown) => void): void },
          done: (error: unknown, it: unknown) => void,
        ) => {
          connection.query("set application_name to 'mine'", (error) => done(error, connection));
        },
      },
    },
    async (db) => db.select(db.raw("current_setting('application_name') as name")),
  ],
  [
    'userParams',
    { userParams: { tenant: 1 } } as Knex.Config,
    async (db) => [db.userParams, db.withUserParams({ b: 2 }).userParams],
  ],
];

describe('With Knex configured by', () => {
  const cluster = useRoutingDatabase(`
    create table facts (id int primary key, rank_of int, "rankOf" int);
    insert into facts values (1, 1, 2), (2, 2, 3);
    create schema other; create table other.elsewhere (it int); insert into other.elsewhere values (7);
  `);
  const { split, plain } = useInstances(cluster);

  async function observe(db: Knex, use: Use): Promise<unknown> {
    const events: string[] = [];
    for (const event of ['start', 'query', 'query-response', 'query-error']) {
      db.on(event, (...told: unknown[]) => events.push(`${event} of ${told.length}`));
    }
    const outcome = await use(db).then((result) => ({ result }), described);
    return { outcome, events };
  }

  it.each(cases)(
    '%s, results, errors, stacks and events are those of plain Knex',
    async (_, config, use) => {
      const logged: unknown[][] = [[], []];
      const logTo = (lines: unknown[] | undefined): Knex.Logger => {
        const note = (message: unknown): void => void lines?.push(comparable(message));
        return { warn: note, error: note, debug: note, deprecate: note };
      };
      const ours = await split({ ...config, log: logTo(logged[0]) });
      const theirs = plain({ ...config, log: logTo(logged[1]) });
      logged[0]?.splice(0);

      const expected = await observe(theirs, use);

      expect(await observe(ours, use)).toEqual(expected);
      expect(logged[0]).toEqual(logged[1]);
    },
  );
});

/** An error as the application sees it, with the frames of this file alone. */
function described(error: Error & Record<string, unknown>): unknown {
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => line.includes('config-options.test'));
  const { name, message } = error;
  const own = Object.keys(error)
    .filter((key) => key !== 'rwSplit')
    .toSorted();
  return {
    name,
    message,
    own,
    code: error['code'],
    frames: frames.map((line) => line.trim().replace(/:\d+:\d+\)?$/, '')),
  };
}

function comparable(message: unknown): unknown {
  if (typeof message === 'object')
    return JSON.parse(
      JSON.stringify(message, (key, value: unknown) =>
        key === '__knexQueryUid' || key === 'rwSplit' ? undefined : value,
      ),
    );
  return typeof message === 'string' ? message.split('\n')[0] : message;
}

import { PassThrough } from 'node:stream';
import type { Knex } from 'knex';
import { onConnection } from './on-connection.ts';
import { call } from './query-surface.ts';

/** Each method of raw text; given is the text of a read. */
export const rawUses: Readonly<Record<string, (raw: Knex.Raw, db: Knex) => unknown>> = {
  set: (raw) => call(raw, 'set', ['select ?::int as two', [2]]),
  wrap: (raw, db) => db.select('one').from(raw.wrap('(', ') as parts')),
  timeout: (raw) => raw.timeout(10_000),
  // oxlint-disable-next-line unicorn/no-thenable -- a row of a table that is never awaited.
  then: (raw) => raw.then((result: { rows: unknown }) => result.rows),
  catch: (raw) => call(raw, 'catch', [String]),
  finally: (raw) => call(raw, 'finally', [() => undefined]),
  asCallback: (raw) =>
    new Promise((resolve) => {
      void call(raw, 'asCallback', [(failure: unknown) => resolve(failure)]);
    }),
  debug: (raw) => raw.debug(false),
  options: (raw) => raw.options({ rowMode: 'array' }),
  queryContext: (raw) => raw.queryContext({ tenant: 1 }),
  stream: (raw) => raw.stream().toArray(),
  pipe: async (raw) => {
    const sink = new PassThrough({ objectMode: true });
    raw.pipe(sink);
    return sink.toArray();
  },
  connection: async (raw, db) => onConnection(db, (it) => raw.connection(it)),
  transacting: async (raw, db) => db.transaction(async (trx) => raw.transacting(trx)),
};

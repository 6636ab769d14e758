import { afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { knexClasses } from '../../../lib/knex/internals.ts';
import { createFakeDriver, overDriver } from '../../support/fake-driver.ts';

const open: Knex[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((db) => db.destroy()));
});

function make(Client: typeof Knex.Client, more: Knex.Config): Knex {
  const client = overDriver(Client, createFakeDriver());
  const db = knex({ client, connection: { host: 'primary' }, asyncStackTraces: true, ...more });
  open.push(db);
  return db;
}

interface Failure {
  readonly message: string;
  readonly caller: string | undefined;
  readonly events: readonly string[];
}

type Run = (db: Knex) => Promise<unknown>;

const runs: readonly [name: string, Run][] = [
  ['alone', async (db) => db.raw('')],
  ['in a session', async (db) => ('rwSplit' in db.client.config ? inSession(db) : db.raw(''))],
  ['in a transaction', async (db) => db.transaction(async (trx) => trx.raw(''))],
];

async function inSession(db: Knex): Promise<unknown> {
  return rwSplit(db).session({ monotonic: true }, async () => db.raw(''));
}

async function fail(db: Knex, run: Run): Promise<Failure> {
  const events: string[] = [];
  for (const event of ['start', 'query', 'query-error']) {
    db.on(event, ({ sql }: { sql?: string }) => sql === '' && events.push(event));
  }
  const error = await run(db).then(
    () => new Error('no rejection'),
    (reason: Error) => reason,
  );
  const caller = error.stack?.split('\n').find((line) => line.includes('empty-statement.test'));
  return { message: error.message, caller: caller?.replace(/:\d+:\d+.*/, ''), events };
}

describe('An empty statement', () => {
  it.each(runs)('fails as with pg, and shows who sent it: %s', async (_, run) => {
    const expected = await fail(make(knexClasses(knex).PgDialect, {}), run);

    const ours = await fail(
      make(RWSplitClient, { rwSplit: { replicas: [{ host: 'replica' }] } }),
      run,
    );

    expect(ours).toEqual(expected);
    expect(ours).toMatchObject({ message: 'The query is empty', caller: expect.any(String) });
  });
});

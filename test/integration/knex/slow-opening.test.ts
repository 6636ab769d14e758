import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';

const cluster = useDatabase();
const made: Knex[] = [];

beforeAll(async () => {
  await cluster().primary.query('create table orders (id int)');
  await cluster().waitForReplay();
});

afterEach(async () => {
  await Promise.all(made.splice(0).map((db) => db.destroy()));
});

/** Opens each connection in more time than a look at the catalog may take. */
function slowlyConnected(): Knex {
  const db = knex({
    client: RWSplitClient,
    connection: cluster().url,
    pool: {
      min: 0,
      max: 2,
      afterCreate: (connection: unknown, done: (error: unknown, connection: unknown) => void) => {
        setTimeout(done, 400, undefined, connection);
      },
    },
  });
  made.push(db);
  return db;
}

describe('a connection that takes long to open', () => {
  it('keeps its first read waiting, as with plain Knex, and not from a replica', async () => {
    const db = slowlyConnected();

    await db('orders');

    const hosts = rwSplit(db).hosts();
    expect(hosts.reduce((sum, { served }) => sum + served.reads, 0)).toBe(1);
    expect(hosts[0]?.served).toEqual({ reads: 0, writes: 0, connectErrors: 0 });
    expect(hosts.map(({ lastError }) => lastError)).toEqual([undefined, undefined, undefined]);
  });
});

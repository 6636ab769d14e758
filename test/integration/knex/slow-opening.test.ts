import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { until } from '../../../lib/testing/until.ts';
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

/** Opens each connection in more time than a statement waits for a look at the catalog. */
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
  it('sends the first read to the primary, and makes no host unreachable', async () => {
    const db = slowlyConnected();

    await db('orders');

    const hosts = rwSplit(db).hosts();
    expect(hosts[0]?.served).toEqual({ reads: 0, writes: 1, connectErrors: 0 });
    expect(hosts.map(({ lastError }) => lastError)).toEqual([undefined, undefined, undefined]);
  });

  it('serves the reads that come after', async () => {
    const db = slowlyConnected();

    await db('orders');

    await until('a read is proved', 5000, async () => {
      const { intent } = await rwSplit(db).explain(db('orders'));
      return intent === 'read';
    });
    expect(
      rwSplit(db)
        .hosts()
        .map(({ pool }) => pool.used),
    ).toEqual([0, 0, 0]);
  });
});

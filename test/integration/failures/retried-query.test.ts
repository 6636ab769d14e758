import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { type RetryEvent, rwSplit } from '../../../lib/index.ts';
import { useChaosNetwork } from '../../support/chaos-network.ts';
import { eventually } from '../../support/eventually.ts';
import { useInstances } from '../../support/instances.ts';
import { inLong } from '../../support/long.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

interface Failed extends Error {
  readonly rwSplit: { readonly attempts: readonly { host: string; role: string }[] };
}

const sleepy = (seconds: number): string =>
  `select pg_sleep(${seconds}), served_by() as host, 'retried' as kind`;

describe('A query that is run again', () => {
  const cluster = useRoutingDatabase();
  const { split, plain } = useInstances(cluster);
  const network = useChaosNetwork(cluster);

  async function make(connection: object = {}): Promise<Knex> {
    const config = network.config();
    const db = await split({
      connection: { ...(config.connection as object), ...connection },
      rwSplit: { ...config.rwSplit, balancer: 'in-order' },
    });
    await db.raw(sleepy(0));
    return db;
  }

  const sleeping = async (host: string): Promise<number> => {
    const server = cluster().hosts.find(({ name }) => name === host);
    const rows = await server?.query(
      "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
    );
    return rows?.length ?? 0;
  };

  const cutWhileSleeping = async (): Promise<void> => {
    await eventually(async () => (await sleeping('replica-1')) > 0);
    network.to('replica-1').cut();
  };

  it('shows in Knex as one query, and in an event of its own', async () => {
    const db = await make();
    const shown: string[] = [];
    const retries: RetryEvent[] = [];
    rwSplit(db).on('retry', (event) => retries.push(event));
    for (const event of ['start', 'query', 'query-response', 'query-error']) {
      db.client.on(event, (one: { rwSplit?: { host: string } }, other: typeof one) => {
        const about = event === 'query-response' || event === 'query-error' ? other : one;
        shown.push(`${event} ${about.rwSplit?.host ?? ''}`.trim());
      });
    }

    const query = db.raw(sleepy(0.5)).then(({ rows }) => rows[0].host);
    await cutWhileSleeping();

    expect(await query).toBe('replica-2');
    expect(shown).toEqual(['start', 'query replica-1', 'query-response replica-2']);
    expect(retries).toMatchObject([{ host: 'replica-1', next: 'replica-2', attempt: 2 }]);
    expect(retries[0]?.error).toMatchObject({ code: 'ECONNRESET' });
  });

  it.each([true, ...inLong(false)])(
    'has one timeout for all attempts (cancel: %p)',
    async (cancel) => {
      const db = await make();
      const seconds = 1.2;
      const begin = performance.now();

      const query = db.raw(sleepy(seconds)).timeout(seconds * 1000, { cancel });
      const failed = query.catch((error: unknown) => error);
      await eventually(async () => (await sleeping('replica-1')) > 0);
      await new Promise((resolve) => {
        setTimeout(resolve, 300);
      });
      await cutWhileSleeping();
      const error = await failed;

      const millis = performance.now() - begin;
      expect(error).toMatchObject({
        name: 'KnexTimeoutError',
        message: `Defined query timeout of ${seconds * 1000}ms exceeded when running query.`,
      });
      expect(millis).toBeGreaterThan(seconds * 1000 - 50);
      expect(millis).toBeLessThan(seconds * 1000 + 1500);
      await eventually(async () => (await sleeping('replica-2')) === 0);
    },
  );

  it('is not run a third time after its timeout', async () => {
    const db = await make();
    const retries: unknown[] = [];
    rwSplit(db).on('retry', (event) => retries.push(event));

    const query = db.raw(sleepy(1)).timeout(300);
    await expect(query).rejects.toThrow('timeout of 300ms');
    network.to('replica-1').cut();
    await eventually(async () => (await sleeping('replica-1')) === 0);

    expect(retries).toEqual([]);
  });

  it('after a read timeout of the driver leaves no connection that would time out again', async () => {
    const db = await make({ query_timeout: 300 });
    const retries: RetryEvent[] = [];
    rwSplit(db).on('retry', (event) => retries.push(event));

    const begin = performance.now();
    const error = (await db.raw(sleepy(30)).catch((thrown: unknown) => thrown)) as Failed;

    expect(error.message).toMatch(/Query read timeout$/);
    // Once on each host there is: it would take as long there again.
    const tried = error.rwSplit.attempts.map(({ host, role }) =>
      role === 'primary' ? role : host,
    );
    expect(tried).toEqual(['replica-1', 'replica-2', 'primary']);
    expect(retries).toHaveLength(2);
    expect(performance.now() - begin).toBeLessThan(3 * 300 + 3000);
    // Nobody waits for what was given up, and nothing goes on with it.
    await eventually(async () => {
      const all = await Promise.all(cluster().hosts.map(({ name }) => sleeping(name)));
      return all.every((count) => count === 0);
    });

    const hosts = await Promise.all([1, 2, 3, 4].map(() => db.raw(sleepy(0))));
    expect(hosts.map(({ rows }) => rows[0].host)).toEqual(hosts.map(() => 'replica-1'));
  });

  it('after a read timeout has a write fail as unknown', async () => {
    const db = await make({ query_timeout: 300 });
    const slow = db.raw('insert into notes (rank) select 1 from pg_sleep(0.6)');

    await expect(slow).rejects.toMatchObject({
      message: expect.stringContaining('Query read timeout'),
      rwSplit: { role: 'primary', outcome: 'unknown' },
    });

    await expect(db('notes').insert({ rank: 2 })).resolves.toBeDefined();
  });

  it('leaves the fields of PostgreSQL as they are', async () => {
    const [db, other] = [await make(), plain()];
    await db('notes').insert({ body: 'taken' });
    const errorOf = (knex: Knex): Promise<Record<string, unknown>> =>
      knex('notes')
        .insert({ body: 'taken' })
        .then(
          () => ({}),
          (error: object) => ({ ...error, message: (error as Error).message }),
        );

    const { rwSplit: about, ...fields } = await errorOf(db);

    const { detail, ...theirs } = await errorOf(other);
    expect(fields).toEqual({ ...theirs, detail });
    expect(about).toMatchObject({ role: 'primary', attempts: [{ code: '23505' }] });
    expect(about).not.toHaveProperty('outcome');
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const failure = async (query: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(query).then(
    () => 'no error',
    (error: Error) => error.message,
  );

describe('destroy()', () => {
  const cluster = useRoutingDatabase();
  const { split, plain, warnings } = useInstances(cluster);

  async function sessions(): Promise<number> {
    const counts = await Promise.all(
      cluster().hosts.map((host) =>
        host.query<{ count: number }>(
          'select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        ),
      ),
    );
    return counts.flat().reduce((sum, { count }) => sum + count, 0);
  }

  it('ends the connections to every host', async () => {
    await until('others have gone', 5000, async () => (await sessions()) === 0);
    const db = await split();
    // One for the statements, and one for the probes, of each of three hosts.
    expect(await sessions()).toBe(6);

    await db.destroy();

    await until('the sessions are gone', 5000, async () => (await sessions()) === 0);
  });

  it('says that the outcome of a write is unknown that it cut short', async () => {
    const db = await split({ acquireConnectionTimeout: 500 });
    const body = db.raw("(select 'cut short' from pg_sleep(20))");
    const written = db('notes')
      .insert({ body })
      .then(
        () => 'written',
        (error: unknown) => error,
      );
    await until('it runs', 5000, async () => {
      const text = "select from pg_stat_activity where wait_event = 'PgSleep'";
      return (await cluster().primary.query(text)).length > 0;
    });

    await db.destroy();

    expect(await written).toMatchObject({
      message: expect.stringMatching(/was destroyed/),
      rwSplit: { outcome: 'unknown' },
    });
  });

  it('can be called again, and at once', async () => {
    const db = await split();

    await Promise.all([db.destroy(), db.destroy()]);

    await expect(db.destroy()).resolves.toBeUndefined();
  });

  it('tells a callback', async () => {
    const db = await split();

    const told = await new Promise((tell) => {
      db.destroy((...args: unknown[]) => tell(args));
    });

    expect(told).toEqual([]);
  });

  it('waits for what is running', async () => {
    const db = await split();
    const sleep = 'select pg_sleep(0.2), served_by() as host';
    await db.raw(sleep);
    const running = db.raw(sleep).then(({ rows }) => rows[0].host);
    await until('it runs', 2000, () =>
      rwSplit(db)
        .hosts()
        .some(({ inFlight }) => inFlight > 0),
    );

    await db.destroy();

    expect(await running).toMatch(/^replica-/);
  });

  it('ends at once what has no connection yet', async () => {
    const db = await split();
    const looking = failure(db.raw('select served_by() as first_sight'));

    await db.destroy();

    expect(await looking).toMatch(/^(no error|Unable to acquire a connection)$/);
  });

  it.each<[string, (db: Knex) => PromiseLike<unknown>]>([
    ['a read', (db) => db('here')],
    ['a write', (db) => db('notes').insert({ rank: 1 })],
    ['raw text', (db) => db.raw('select 1')],
    ['a transaction', (db) => db.transaction(async () => undefined)],
    ['a schema builder', (db) => db.schema.hasTable('notes')],
    ['a stream', (db) => db('here').stream().toArray()],
  ])('makes %s fail as in plain Knex', async (_, use) => {
    const [db, other] = [await split(), plain()];
    await Promise.all([db.destroy(), other.destroy()]);

    const message = await failure(use(db));

    expect(message).toBe('Unable to acquire a connection');
    expect(message).toBe(await failure(use(other)));
  });

  it('makes the queries of a clone fail, too', async () => {
    const db = await split();
    const clone = db.withUserParams({});

    await db.destroy();

    expect(await failure(clone('here'))).toBe('aborted');
  });

  it('leaves the handle to say so', async () => {
    const db = await split();
    const handle = rwSplit(db);
    await db.destroy();

    expect(() => handle.hosts()).toThrow('was destroyed');
    await expect(handle.explain(db('here'))).rejects.toThrow('was destroyed');
    expect(() => handle.readmit('replica-1')).toThrow('was destroyed');
  });

  it('can be undone by initialize()', async () => {
    const db = await split();
    const handle = rwSplit(db);
    const routes: string[] = [];
    handle.on('route', ({ host }) => routes.push(host));
    await db.destroy();

    db.initialize();

    expect(handle.hosts().map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(await db.transaction(async (trx) => trx('here').pluck('host'))).toEqual(['primary']);
    // Of the session of the transaction, the primary's until a replica has what that wrote.
    await handle.session({ consistency: 'eventual' }, async () => db.raw('select 1'));
    expect(routes.at(-1)).toMatch(/^replica-/);
  });

  it('can be undone with another pool', async () => {
    const db = await split();
    await db.destroy();

    db.initialize({ pool: { min: 0, max: 1 } } as Knex.Config);

    expect(db.client.pool.max).toBe(1);
    expect(
      rwSplit(db)
        .hosts()
        .map(({ pool }) => pool.max),
    ).toEqual([1, 1, 1]);
    const reads = [1, 2, 3].map(async () => db.raw('select pg_sleep(0.05)'));
    await expect(Promise.all(reads)).resolves.toHaveLength(3);
  });

  it('is needed before initialize(), which else warns as in plain Knex', async () => {
    const db = await split();

    db.initialize();

    expect(warnings()).toContain('The pool has already been initialized');
    await expect(db.raw('select 1')).resolves.toMatchObject({ rowCount: 1 });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit, SessionStateError } from '../../../lib/index.ts';
import type { StateOptions } from '../../../lib/index.ts';
import { eventually } from '../../support/eventually.ts';
import { poolerWays } from '../../support/pooler-ways.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { openAll, useSplit } from '../../support/split.ts';

type Run = (db: Knex) => PromiseLike<unknown>;

const wanted = { settings: { 'app.tenant': 'acme' } };

// Each sends its mark, if it sends anything.
const mark = 'sent_in_spite';
const anything = new RegExp(`${mark}|set_config\\(s|begin`, 'gi');
const primary = '127.0.0.1:';

// A read that needs no look-up, which could be late.
const read = `select 1 as ${mark}`;

const stateful: readonly (readonly [name: string, host: string, run: Run])[] = [
  ['a read', 'replica', (db) => rwSplit(db).withState(wanted).raw(read)],
  ['a write', primary, (db) => rwSplit(db).withState(wanted)('notes').insert({ body: mark })],
  ['DDL', primary, (db) => rwSplit(db).withState(wanted).raw(`create table ${mark} ()`)],
  [
    'a transaction',
    primary,
    (db) =>
      rwSplit(db)
        .withState(wanted)
        .transaction((trx) => trx.raw(read)),
  ],
  [
    'a read-only transaction',
    'replica',
    (db) =>
      rwSplit(db)
        .withState(wanted)
        .transaction((trx) => trx.raw(read), { readOnly: true }),
  ],
  ['a stream', 'replica', (db) => consume(rwSplit(db).withState(wanted).raw(read).stream())],
  [
    'a schema builder',
    primary,
    (db) =>
      rwSplit(db)
        .withState(wanted)
        .schema.createTable(mark, () => undefined),
  ],
  ['what inState() runs', 'replica', (db) => rwSplit(db).inState(wanted, async () => db.raw(read))],
];

const locks: readonly (readonly [name: string, run: Run])[] = [
  ['a lock', (db) => db.raw(`select pg_advisory_lock(7) as ${mark}`)],
  ['an attempt at one', (db) => db.raw(`select pg_try_advisory_lock_shared(7) as ${mark}`)],
  [
    'one on a connection taken by hand',
    async (db) => {
      const connection: unknown = await db.client.acquireConnection();
      try {
        await db.raw(`select pg_advisory_lock(7) as ${mark}`).connection(connection);
      } finally {
        await db.client.releaseConnection(connection);
      }
    },
  ],
];

async function consume(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const row of rows) expect(row).toBeDefined();
}

async function refusalOf(run: PromiseLike<unknown>): Promise<SessionStateError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof SessionStateError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe.each(poolerWays)('Behind $title', ({ use, shares }) => {
  const cluster = useRoutingDatabase();
  const pooler = use(cluster, 'transaction');
  const splits = useSplit(cluster);

  it.each(stateful)('%s in a wanted state is refused before it is sent', async (_, host, run) => {
    const { db } = await splits.warm(pooler.config());
    pooler.sent(anything);

    const error = await refusalOf(run(db));

    expect(error.code).toBe('RWSPLIT_STATE');
    expect(error.message).toMatch(new RegExp(`a pooler seems to stand before ${host}`));
    expect(error.message).toContain("rwSplit: { pooler: 'session' }");
    expect(error.message).toContain('SET LOCAL');
    expect(pooler.sent(anything)).toEqual([]);
  });

  it('a client whose every statement has a state runs none', async () => {
    const { db } = splits.cold(pooler.config({ state: wanted }));

    await refusalOf(db('notes').insert({ body: mark }));
    await refusalOf(db('notes').select());
    const connection: { query(text: string): Promise<unknown> } =
      await db.client.acquireConnection();
    await refusalOf(connection.query(`select 1 as ${mark}`));
    await db.client.releaseConnection(connection);

    expect(pooler.sent(anything)).toEqual([]);
  });

  it.each(locks)('%s is refused before it is sent', async (_, run) => {
    const { db } = await splits.warm(pooler.config());
    pooler.sent(anything);

    const error = await refusalOf(run(db));

    expect(error.message).toMatch(/a pooler seems to stand before 127.*pg_advisory_xact_lock/);
    expect(pooler.sent(anything)).toEqual([]);
    expect(await locksHeld()).toBe(0);
    expect(rwSplit(db).hosts()[0]?.pool).toMatchObject({ used: 0, pending: 0 });
  });

  it('locks in a transaction are taken', async () => {
    const { db } = splits.cold(pooler.config());

    const held = await db.transaction(async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(8)');
      await trx.raw('select pg_advisory_lock(9)');
      await trx.raw('select pg_advisory_unlock(9)');
      return locksHeld();
    });

    expect(held).toBe(1);
    expect(await locksHeld()).toBe(0);
  });

  it('all else works, and what was refused leaves nothing behind', async () => {
    const { db, servers } = await splits.warm(pooler.config({ consistency: 'session' }));
    await refusalOf(rwSplit(db).withState(wanted).raw('select 1'));
    await db.raw('do $$ begin end $$');
    servers();

    for (let rank = 1; rank <= 20; rank++) {
      // oxlint-disable-next-line no-await-in-loop -- each read follows its own write.
      await db('notes').insert({ body: `pair ${rank}`, rank });
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await db('notes').where({ rank }).pluck('body')).toEqual([`pair ${rank}`]);
    }
    await db
      .transaction(async (trx) => {
        await trx('notes').update({ rank: 0 });
        await trx('notes').where({ rank: 0 }).del();
        await trx.rollback();
      })
      .catch(() => undefined);
    await db.schema.createTable('of_a_builder', (table) => table.increments());
    await db.schema.dropTable('of_a_builder');
    await consume(db('notes').select().stream());
    await cluster().waitForReplay();
    servers();
    await eventually(async () => {
      await Promise.all(Array.from({ length: 8 }, () => db('notes').count()));
      expect(new Set(servers())).toEqual(new Set(['replica-1', 'replica-2']));
    });

    expect(await db('notes').where({ rank: 20 }).pluck('body')).toEqual(['pair 20']);
  });

  it('a pooler that is said to keep sessions is found out where it does not', async () => {
    const { db } = await splits.warm(pooler.config({ pooler: 'session', target: 'primary' }));
    const isRefused = async (): Promise<boolean> => {
      const outcomes = await Promise.allSettled(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((tenant) =>
          rwSplit(db)
            .withState({ settings: { 'app.tenant': tenant } })
            .raw('select pg_sleep(0.01)'),
        ),
      );
      return outcomes.some(
        (outcome) =>
          outcome.status === 'rejected' &&
          /several sessions have answered/.test(String(outcome.reason)),
      );
    };

    let rounds = 0;
    while (rounds < 20 && !(await isRefused())) rounds++;

    expect(rounds < 20).toBe(shares);
    await db('notes').count();
  });

  it('a statement whose time is up is cancelled', async () => {
    const { db } = await splits.warm(pooler.config());

    await expect(db.raw('select pg_sleep(60)').timeout(100, { cancel: true })).rejects.toThrow(
      'Defined query timeout of 100ms exceeded',
    );

    const running =
      "select 1 from pg_stat_activity where query like 'select pg_sleep(60)%' and state = 'active'";
    for (const host of cluster().hosts) {
      // oxlint-disable-next-line no-await-in-loop -- three of them.
      expect(await host.query(running)).toEqual([]);
    }
  });

  it('is seen in what hosts() says once a connection was opened', async () => {
    const { db } = splits.cold(pooler.config());
    const seen = (): unknown =>
      rwSplit(db)
        .hosts()
        .map(({ hasPooler }) => hasPooler);

    expect(seen()).toEqual([undefined, undefined, undefined]);
    await openAll(db);
    expect(seen()).toEqual([true, true, true]);
  });

  async function locksHeld(): Promise<number> {
    const rows = await cluster().primary.query(
      `select 1 from pg_locks join pg_database d on d.oid = database
       where locktype = 'advisory' and datname = current_database()`,
    );
    return rows.length;
  }
});

describe.each(poolerWays)('A pooler that keeps sessions, as said: $title', ({ use }) => {
  const cluster = useRoutingDatabase();
  const pooler = use(cluster, 'session');
  const splits = useSplit(cluster);
  const options = { pooler: 'session' } as const;

  const view = `select coalesce(current_setting('app.tenant', true), '') as tenant,
    current_setting('search_path') as path, current_user as role`;
  const stateOf = (tenant: string): StateOptions => ({
    searchPath: tenant,
    role: 'pg_monitor',
    settings: { 'app.tenant': tenant },
  });

  it('statements run in their state', async () => {
    const { db } = await splits.warm(pooler.config(options));
    const tenants = Array.from({ length: 40 }, (_, index) => `tenant ${index}`);

    const seen = await Promise.all(
      tenants.map(async (tenant) => {
        const by = rwSplit(db).withState(stateOf(tenant));
        const read = await by.raw(view);
        const inTransaction = await by.transaction((trx) => trx.raw(view));
        return [read.rows[0], inTransaction.rows[0]];
      }),
    );
    const { rows } = await db.raw(view);

    const views = tenants.map((tenant) => ({ tenant, path: `"${tenant}"`, role: 'pg_monitor' }));
    expect(seen).toEqual(views.map((each) => [each, each]));
    expect(rows).toEqual([
      { tenant: '', path: '"$user", public', role: cluster().connection().user },
    ]);
  });

  it('locks are kept until they are given back', async () => {
    const { db } = splits.cold(pooler.config(options));
    const { db: other } = splits.cold(pooler.config(options));
    const take = async (by: Knex): Promise<unknown> =>
      (await by.raw('select pg_try_advisory_lock(10) as ok')).rows[0].ok;

    expect(await take(db)).toBe(true);
    expect(await take(db)).toBe(false);
    expect(await take(other)).toBe(false);
    expect((await db.raw('select pg_advisory_unlock(10) as ok')).rows).toEqual([{ ok: true }]);
    expect(await take(other)).toBe(true);
    await other.raw('select pg_advisory_unlock(10)');
  });
});

describe('A pooler before some hosts', () => {
  const cluster = useRoutingDatabase();
  const pooler = poolerWays[0]?.use(cluster, 'transaction');
  const splits = useSplit(cluster);
  if (pooler === undefined) throw new Error('There is always one pooler.');

  it('keeps states from those alone, and has nothing run elsewhere for it', async () => {
    pooler.renumber(false);
    pooler.renumber(true, 'replica-1');
    const { db } = await splits.warm(pooler.config({ balancer: { name: 'priority', first: 1 } }));
    const by = rwSplit(db).withState(wanted);

    expect(await by('notes').insert({ body: 'in a state' }, 'body')).toEqual([
      { body: 'in a state' },
    ]);
    const hint = { rwSplit: { host: 'replica-2' } };
    expect(await by('here').queryContext(hint)).toEqual([{ host: 'replica-2', one: 1 }]);
    const error = await refusalOf(by('here').queryContext({ rwSplit: { host: 'replica-1' } }));
    expect(error.message).toContain('replica-1');
    expect(
      rwSplit(db)
        .hosts()
        .map(({ hasPooler }) => hasPooler),
    ).toEqual([false, true, false]);
  });

  it('counts for the connections that go through it', async () => {
    pooler.renumber(false);
    const { db } = splits.cold({ ...pooler.config({ replicas: [] }), pool: { max: 1 } });
    const by = rwSplit(db).withState(wanted);
    await by.raw('select 1');

    pooler.renumber(true);
    await by.raw('select 1');
    await db.raw('set work_mem = default');
    await refusalOf(by.raw('select 1'));
    expect(rwSplit(db).hosts()[0]?.hasPooler).toBe(true);

    pooler.renumber(false);
    await db.raw('set work_mem = default');
    await by.raw('select 1');
    expect(rwSplit(db).hosts()[0]?.hasPooler).toBe(false);
  });
});

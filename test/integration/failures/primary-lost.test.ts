import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { NoHostAvailableError, rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { machineMillis } from '../../support/outage.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { setSettings } from '../../support/set-settings.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

describe('A primary that is killed', () => {
  const { hosts, warm } = useFailover();

  it('stops no read', async () => {
    const [first] = hosts();
    const { db, servers } = await warm();

    await first.kill();
    for (let read = 0; read < 10; read++) await db('notes').count();
    await awaitHost(db, addressOf(first), ({ state }) => state === 'down');
    for (let read = 0; read < 10; read++) await db('notes').count();

    expect(new Set(servers())).toEqual(new Set(['replica-1', 'replica-2']));
  });

  it('leaves the outcome of a running write unknown, and runs it no second time', async () => {
    const [first] = hosts();
    const { db } = await warm();

    const running = errorOf(db('notes').insert({ body: slowly(db, 'in flight') }));
    await untilAsleep(first);
    await first.kill();
    const error = await running;
    await first.start();
    await insert(db, 'waited for');

    expect(error).toMatchObject({
      rwSplit: { host: addressOf(first), role: 'primary', outcome: 'unknown' },
    });
    expect(error.rwSplit?.attempts).toHaveLength(1);
    const text = "select body from notes where body in ('in flight', 'waited for')";
    const bodies = await first.query(text);
    expect(bodies).toEqual([{ body: 'waited for' }]);
  });

  it('has writes wait for the next one, those that met its end included', async () => {
    const [first, second] = hosts();
    const { db, servers } = await warm();

    await first.kill();
    await noticed(db, first);
    servers();
    const writes = Array.from({ length: 8 }, (_, n) => insert(db, `waiting ${n}`));
    const waiting = Promise.all([...writes, db.transaction(async (trx) => insert(trx, 'in trx'))]);
    await second.promote();
    await waiting;

    expect(servers()).toContain('replica-1');
    const rows = await second.query(
      "select from notes where body like 'waiting %' or body = 'in trx'",
    );
    expect(rows).toHaveLength(9);
  });

  it('has those writes wait that it had no connection for', async () => {
    const [first, second] = hosts();
    const { db, servers } = await warm({ pool: { min: 0, max: 1 } });
    const running = errorOf(db('notes').insert({ body: slowly(db, 'before the queue') }));
    await untilAsleep(first);
    servers();
    const queued = Promise.all([1, 2, 3, 4, 5].map((n) => insert(db, `queued ${n}`)));
    await awaitHost(db, addressOf(first), ({ pool }) => pool.pending === 5);

    await first.kill();
    await second.promote();

    expect(await running).toMatchObject({ rwSplit: { outcome: 'unknown' } });
    await queued;
    expect(servers()).toEqual(Array(5).fill('replica-1'));
  });

  it('has writes wait while it restarts', async () => {
    const [first] = hosts();
    const { db, servers } = await warm();

    await first.kill();
    await noticed(db, first);
    servers();
    const write = insert(db, 'after the restart');
    const trx = db.transaction(async (inner) => insert(inner, 'after the restart, too'));
    await first.start();
    await Promise.all([write, trx]);

    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it('fails a write after failover.waitMillis, with the cause of each host', async () => {
    const [first] = hosts();
    const waitMillis = 700;
    const { db } = await warm({ rwSplit: { failover: { waitMillis } } });
    await first.kill();
    await awaitHost(db, addressOf(first), ({ state }) => state === 'down');

    const begin = performance.now();
    const error = await errorOf(insert(db, 'in vain'));
    const millis = performance.now() - begin;

    expect(error).toBeInstanceOf(NoHostAvailableError);
    expect(error).toMatchObject({
      code: 'RWSPLIT_NO_HOST',
      intent: 'write',
      hosts: [
        { name: addressOf(first), state: 'unreachable', lastError: { code: 'ECONNREFUSED' } },
        { name: 'replica-1', state: 'is a replica' },
        { name: 'replica-2', state: 'is a replica' },
      ],
    });
    expect(millis).toBeGreaterThan(waitMillis - 10);
    expect(millis).toBeLessThan(waitMillis + machineMillis);
  });

  it('fails a write at once where failover.waitMillis is 0', async () => {
    const [first] = hosts();
    const { db } = await warm({ rwSplit: { failover: { waitMillis: 0 } } });
    await first.kill();
    await awaitHost(db, addressOf(first), ({ state }) => state === 'down');

    const begin = performance.now();
    const errors = [
      await errorOf(insert(db, 'in vain')),
      await errorOf(db.transaction(async (trx) => insert(trx, 'in vain'))),
      await errorOf(db.schema.createTable('in_vain', () => undefined)),
    ];

    expect(performance.now() - begin).toBeLessThan(machineMillis);
    expect(errors.map(({ code }) => code)).toEqual(Array(3).fill('RWSPLIT_NO_HOST'));
  });

  it('fails the transactions that it ran, and says nothing of their outcome', async () => {
    const [first] = hosts();
    const { db } = await warm();
    let runs = 0;

    const running = errorOf(
      db.transaction(async (trx) => {
        runs++;
        await insert(trx, 'never committed');
        await trx.raw('select pg_sleep(30)');
      }),
    );
    await untilAsleep(first);
    await first.kill();
    const error = await running;
    await first.start();
    await insert(db, 'after it');

    expect(error.rwSplit).toMatchObject({ host: addressOf(first) });
    expect(error.rwSplit).not.toHaveProperty('outcome');
    expect(runs).toBe(1);
    expect(await first.query("select from notes where body = 'never committed'")).toEqual([]);
  });

  it('fails the next statement of an idle transaction', async () => {
    const [first] = hosts();
    const { db } = await warm();

    const error = await errorOf(
      db.transaction(async (trx) => {
        await insert(trx, 'also never committed');
        await first.kill();
        await awaitHost(db, addressOf(first), ({ state }) => state === 'down');
        await insert(trx, 'in the same transaction');
      }),
    );

    expect(error.message).toMatch(/terminated|not queryable|ECONNRESET|EPIPE/);
    expect(error.rwSplit).not.toHaveProperty('outcome');
  });

  it('leaves the outcome of a COMMIT unknown that it did not answer', async () => {
    const [first, second, third] = hosts();
    await setSettings(first, { synchronous_standby_names: '2 ("replica-1", "replica-2")' });
    const { db } = await warm();

    const running = errorOf(
      db.transaction(async (trx) => {
        await insert(trx, 'perhaps');
        second.hang();
        third.hang();
      }),
    );
    await eventually(async () => {
      const text = "select from pg_stat_activity where wait_event = 'SyncRep'";
      return (await first.query(text)).length > 0;
    });
    await first.kill();
    const error = await running;

    expect(error.rwSplit).toMatchObject({ host: addressOf(first), outcome: 'unknown' });
    second.wake();
    third.wake();
    await first.start();
    await setSettings(first, { synchronous_standby_names: undefined });
  });

  it('is one of the readers again once it has joined as a replica', async () => {
    const [first, second] = hosts();
    const { db, servers } = await warm();

    await first.kill();
    await second.promote();
    await first.rejoin();
    await awaitHost(
      db,
      addressOf(first),
      ({ role, state }) => role === 'replica' && state === 'up',
    );
    servers();
    await eventually(async () => {
      await db('notes').count();
      return servers().includes('primary');
    });

    await insert(db, 'on the promoted one');
    expect(servers()).toEqual(['replica-1']);
    expect(
      rwSplit(db)
        .hosts()
        .map(({ role }) => role),
    ).toEqual(['replica', 'primary', 'replica']);
  });
});

/** An error, and what it says of where its statement ran. */
interface RoutedError extends Error {
  readonly code?: string;
  readonly rwSplit?: { readonly attempts: readonly unknown[] };
}

async function errorOf(work: PromiseLike<unknown>): Promise<RoutedError> {
  try {
    await work;
  } catch (error) {
    return error as RoutedError;
  }
  throw new Error('There was no error.');
}

/** A value that takes the server half a minute. */
function slowly(db: Knex, value: string): Knex.Raw {
  return db.raw('(select ?::text from pg_sleep(30))', [value]);
}

/** Until the client knows as well that the connections have ended. */
async function noticed(db: Knex, host: TestHost): Promise<void> {
  await awaitHost(db, addressOf(host), ({ state }) => state !== 'up');
}

async function untilAsleep(host: TestHost): Promise<void> {
  await eventually(async () => {
    const text = "select from pg_stat_activity where wait_event = 'PgSleep'";
    return (await host.query(text)).length > 0;
  });
}

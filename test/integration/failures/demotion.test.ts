import { afterEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { awaitHost, hostStates } from '../../support/await-host.ts';
import { type ChaosProxy, startChaosProxy } from '../../support/chaos-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { machineMillis, quickHealth } from '../../support/outage.ts';
import { setSettings } from '../../support/set-settings.ts';
import { startLoad } from '../../support/steady-load.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

const application = 'behind a name';

// Never probed again by itself, so that only what a query meets can tell.
const blind = { intervalMillis: 60_000 };

const { hosts, warm } = useFailover();

describe('A primary whose transactions are read-only by default', () => {
  it('refuses writes, and stays the primary', async () => {
    const [first] = hosts();
    const { db, servers } = await warm();
    const events: string[] = [];
    for (const event of ['host:down', 'host:role', 'host:fenced'] as const) {
      rwSplit(db).on(event, ({ host }) => events.push(`${event} ${host}`));
    }
    await insert(db, 'before');

    await setSettings(first, { default_transaction_read_only: 'on' });
    servers();
    const errors: unknown[] = [];
    for (let n = 0; n < 5; n++) {
      await eventually(async () =>
        insert(db, `refused ${n}`).then(
          () => false,
          (error: unknown) => errors.push(error) > 0,
        ),
      );
    }

    expect(errors).toHaveLength(5);
    for (const error of errors) expect(error).toMatchObject({ code: '25006' });
    expect(errors[0]).not.toHaveProperty('rwSplit.outcome');
    expect(new Set(servers())).toEqual(new Set(['primary']));
    expect(events).toEqual([]);
    expect(new Set(Object.values(hostStates(db)))).toEqual(new Set(['up']));
    expect(rwSplit(db).hosts()[0]).toMatchObject({ role: 'primary', reason: undefined });
  });
});

describe('A primary that is demoted in its place', () => {
  it('costs no write: each runs on the new one', async () => {
    const [first, second] = hosts();
    const { db, servers } = await warm({ rwSplit: { health: blind } });

    await second.promote();
    await first.rejoin();
    servers();
    await insert(db, 'after it');

    expect(servers()).toEqual(['replica-1']);
    expect(await second.query("select from notes where body = 'after it'")).toHaveLength(1);
  });
});

describe('A name that is pointed at the promoted host', () => {
  const proxies: ChaosProxy[] = [];

  afterEach(async () => {
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  /** A client that knows the primary by a name, and one replica that is not promoted. */
  const behindName = async (
    replicas: readonly TestHost[],
    more: object = {},
  ): Promise<{ name: ChaosProxy; db: Knex; servers(): string[] }> => {
    const [first] = hosts();
    const name = await startChaosProxy(first);
    proxies.push(name);
    const { db, servers } = await warm({
      connection: {
        ...first.connection,
        host: name.host,
        port: name.port,
        application_name: application,
      },
      rwSplit: {
        replicas: replicas.map(({ name: own, host, port }) => ({ name: own, host, port })),
        ...more,
      },
    });
    return { name, db, servers };
  };

  it('leads writes there once the old primary has become a replica', async () => {
    const [first, second, third] = hosts();
    const { name, db, servers } = await behindName([third]);

    await second.promote();
    name.retarget(second);
    await first.rejoin();
    servers();
    for (let n = 0; n < 5; n++) await insert(db, `moved ${n}`);

    expect(new Set(servers())).toEqual(new Set(['replica-1']));
    expect(rwSplit(db).hosts()[0]).toMatchObject({ name: addressOf(name), role: 'primary' });
  });

  it('leads writes there while the old primary goes on, once a connection has opened', async () => {
    const [first, second, third] = hosts();
    const { name, db, servers } = await behindName([third], { health: blind });
    const { timeline } = rwSplit(db).hosts()[0] ?? {};
    await second.promote();
    name.retarget(second);
    servers();
    await insert(db, 'by the old connection');
    expect(servers()).toEqual(['primary']);

    // The pool has one connection, and has to open another one.
    await Promise.all([insert(db, 'at once'), insert(db, 'at once, too')]);
    await eventually(async () => {
      await insert(db, `by whichever is there at ${performance.now()}`);
      return rwSplit(db).hosts()[0]?.timeline !== timeline;
    });
    servers();
    await Promise.all([1, 2, 3, 4].map((n) => insert(db, `after that ${n}`)));

    expect(servers()).toEqual(Array(4).fill('replica-1'));
    // None of those that led to the old one is left.
    const text = 'select from pg_stat_activity where application_name = $1';
    await eventually(async () => (await first.query(text, [application])).length === 0);
  });

  it('leads writes there while the old primary goes on, once a replica follows the new one', async () => {
    const [, second, third] = hosts();
    const { name, db, servers } = await behindName([third]);
    await second.promote();
    name.retarget(second);

    await third.rejoin();
    await awaitHost(db, 'replica-2', ({ state }) => state === 'up');
    await eventually(() => rwSplit(db).hosts()[0]?.reason === undefined);
    servers();
    for (let n = 0; n < 5; n++) await insert(db, `followed ${n}`);

    expect(new Set(servers())).toEqual(new Set(['replica-1']));
  });

  it('leads writes there at the next probe where the promoted host is one of the replicas', async () => {
    const [, second, third] = hosts();
    const { name, db } = await behindName([second, third]);
    const load = startLoad(db, { readsPerSecond: 20, writesPerSecond: 50 });
    await eventually(() => load.writes.length > 10);

    await second.promote();
    name.retarget(second);
    const promotedAt = load.now();
    await eventually(() => load.writes.some(({ server }) => server === 'replica-1'));
    const report = await load.stop();

    const last = load.writes.findLast(({ server }) => server === 'primary');
    const windowMillis = (last?.atMillis ?? 0) + (last?.delayMillis ?? 0) - promotedAt;
    expect(windowMillis).toBeLessThan(1.2 * quickHealth.intervalMillis + machineMillis);
    expect(report.failedWrites.every(({ outcome }) => outcome === 'unknown')).toBe(true);
    expect(report.reads).toMatchObject({ failed: 0, unanswered: 0 });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { HostFencedEvent } from '../../../lib/events.ts';
import { awaitHost } from '../../support/await-host.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { inLong } from '../../support/long.ts';
import { machineMillis, quickHealth } from '../../support/outage.ts';
import { forgetStatements, statementsSeen } from '../../support/statements-seen.ts';
import { startLoad } from '../../support/steady-load.ts';
import type { Split } from '../../support/split.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

type User = [string, { readonly user?: string; readonly password?: string }];

// Who sees less of the servers is the harder case.
const plainUser: User = ['a role without privileges', { user: 'plain', password: 'plain' }];
const superuser: User = ['a superuser', {}];
const users = [plainUser, ...inLong(superuser)];

// Nothing is healed by itself, so that an old primary is the same for every test.
const { cluster, hosts, cold, warm } = useFailover({ isHealed: false });

describe('A primary that goes on while a replica is promoted', () => {
  beforeEach(async () => healCluster(cluster()));

  it('gets no write any more once a probe has seen the promoted one', async () => {
    const [first, second] = hosts();
    const { db } = await warm();
    const load = startLoad(db, { readsPerSecond: 50, writesPerSecond: 50 });
    await sleep(300);

    await second.promote();
    const promotedAt = load.now();
    await sleep(600);
    const report = await load.stop();

    const last = load.writes.findLast(({ server }) => server === 'primary');
    const windowMillis = (last?.atMillis ?? 0) + (last?.delayMillis ?? 0) - promotedAt;
    expect(windowMillis).toBeLessThan(1.2 * quickHealth.intervalMillis + machineMillis);
    expect(load.writes.at(-1)).toMatchObject({ server: 'replica-1' });
    expect(report.failedWrites.every(({ outcome }) => outcome === 'unknown')).toBe(true);
    expect(report.reads).toMatchObject({ failed: 0, unanswered: 0 });
    expect(first.isRunning).toBe(true);
  });

  it('commits no transaction that was open then', async () => {
    const [first, second] = hosts();
    const { db } = await warm();

    const error = await db
      .transaction(async (trx) => {
        await insert(trx, 'too early');
        await second.promote();
        await awaitHost(db, addressOf(first), ({ reason }) => /old primary/.test(reason ?? ''));
        await insert(trx, 'too late');
      })
      .catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(Error);
    expect(error).not.toHaveProperty('rwSplit.outcome');
    expect(await first.query("select from notes where body like 'too %'")).toEqual([]);
  });

  it('gets nothing once it wakes, where it hung meanwhile', async () => {
    const [first, second, third] = hosts();
    const { db, servers } = await warm();
    await insert(db, 'before it hung');

    first.hang();
    await awaitHost(db, addressOf(first), ({ state }) => state === 'down');
    const writing = insert(db, 'while it hung').then(() => 'done');
    await second.promote();
    expect(await writing).toBe('done');
    first.wake();
    await awaitHost(db, addressOf(first), ({ state }) => state === 'up');
    servers();
    for (let n = 0; n < 5; n++) await insert(db, `awake ${n}`);

    expect(new Set(servers())).toEqual(new Set(['replica-1']));
    expect(await first.query("select from notes where body like 'awake %'")).toEqual([]);
    expect(third.isFollowing).toBe(false);
  });
});

describe('An old primary that comes back as it was', () => {
  beforeAll(async () => {
    await healCluster(cluster());
    const [first, second, third] = hosts();
    await first.query(`
      create extension if not exists pg_stat_statements;
      create role plain login password 'plain';
      grant select, insert on notes to plain;`);
    await third.waitForReplay();
    await second.waitForReplay();
    // What it was asked as the primary that it was. It keeps its counts when it is killed.
    await forgetStatements(first);
    await first.kill();
    await second.promote();
    await third.rejoin();
  });

  beforeEach(async () => {
    await hosts()[0].kill();
    await hosts()[1].query('truncate notes');
  });

  /** With the first host as its presumed primary, whoever leads. */
  const fresh = (more: { user?: string; password?: string } = {}): Split => {
    const [first, ...others] = hosts();
    const replicas = others.map(({ name, host, port }) => ({ name, host, port }));
    return cold({
      connection: { ...first.connection, ...more },
      // A server may take long to start while others do.
      rwSplit: { replicas, failover: { waitMillis: 30_000 } },
    });
  };

  it.each(users)('is fenced, and gets nothing, from a client of %s', async (_, user) => {
    const [first, second] = hosts();
    const { db } = fresh(user);
    const fenced: HostFencedEvent[] = [];
    rwSplit(db).on('host:fenced', (event) => fenced.push(event));
    await insert(db, 'before');

    await first.start();
    const known = await awaitHost(db, addressOf(first), ({ state }) => state === 'up');
    for (let n = 0; n < 10; n++) {
      await insert(db, `after ${n}`);
      await db('notes').count();
      await db.transaction(async (trx) => trx('notes').count());
    }

    expect(known.reason).toMatch(/old primary/);
    expect(fenced).toEqual([
      {
        host: addressOf(first),
        timeline: expect.any(Number),
        clusterTimeline: expect.any(Number),
      },
    ]);
    expect(await statementsSeen(first)).toEqual([]);
    expect(await statementsSeen(second)).not.toEqual([]);
    expect(await second.query('select from notes')).toHaveLength(11);
  });

  it.each<[string, 'hang' | 'stop', 'wake' | 'start']>([
    ['is down', 'stop', 'start'],
    ...inLong<[string, 'hang', 'wake']>(['hangs', 'hang', 'wake']),
  ])('gets nothing while the new one %s', async (_, fail, heal) => {
    const [first, second] = hosts();
    const { db, servers } = fresh();
    await first.start();
    await insert(db, 'before');
    await awaitHost(db, addressOf(first), ({ state }) => state === 'up');

    await second[fail]();
    await awaitHost(db, 'replica-1', ({ state }) => state === 'down');
    servers();
    const waiting = insert(db, 'waited for').then(() => 'done');
    for (let n = 0; n < 10; n++) await db('notes').count();
    await sleep(3 * quickHealth.intervalMillis);
    const reads = servers();
    await second[heal]();

    expect(await waiting).toBe('done');
    expect(new Set(reads)).toEqual(new Set(['replica-2']));
    expect(servers()).toEqual(['replica-1']);
    expect(await statementsSeen(first)).toEqual([]);
  });

  it.each(users)('gets nothing from a fresh client of %s that sees both', async (_, user) => {
    const [first] = hosts();
    await first.start();

    for (let client = 0; client < 3; client++) {
      const { db, servers } = fresh(user);
      await Promise.all([insert(db, `fresh ${client}`), db('notes').count()]);
      await db.transaction(async (trx) => trx('notes').count());
      expect(servers()).not.toContain('primary');
    }

    expect(await statementsSeen(first)).toEqual([]);
  });

  it.each(users)(
    'gets nothing from a fresh client of %s that only a replica tells of the new one',
    async (_, user) => {
      const [first, second] = hosts();
      await first.start();
      await second.stop();
      const { db, servers } = fresh(user);

      const writing = insert(db, 'waited for').then(() => 'done');
      await db('notes').count();
      await awaitHost(
        db,
        addressOf(first),
        ({ reason }) => /old primary/.test(reason ?? ''),
        machineMillis,
      );
      await second.start();

      expect(await writing).toBe('done');
      expect(servers()).not.toContain('primary');
      expect(await statementsSeen(first)).toEqual([]);
    },
  );

  it('serves reads again once it has joined as a replica', async () => {
    const [first] = hosts();
    const { db, servers } = fresh();
    await first.start();
    await insert(db, 'before');
    await awaitHost(db, addressOf(first), ({ reason }) => /old primary/.test(reason ?? ''));

    await first.rejoin();
    await awaitHost(db, addressOf(first), ({ role, reason }) => role === 'replica' && !reason);
    await sleep(quickHealth.slowStartMillis);
    servers();
    for (let n = 0; n < 10; n++) await db('notes').count();

    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-2']));
  });
});

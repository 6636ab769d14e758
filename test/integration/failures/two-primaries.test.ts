import { afterEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { HostExcludedEvent } from '../../../lib/events.ts';
import { awaitHost } from '../../support/await-host.ts';
import { type ChaosProxy, startChaosProxy } from '../../support/chaos-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { useFailover } from '../../support/failover.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

const failover = { waitMillis: 20_000 };

const { hosts, warm } = useFailover();

describe('Two replicas that were both promoted', () => {
  it('get the writes of the elected one alone, also while it restarts', async () => {
    const [first, second, third] = hosts();
    const { db, servers } = await warm({ rwSplit: { failover } });
    const excluded: HostExcludedEvent[] = [];
    rwSplit(db).on('host:excluded', (event) => excluded.push(event));
    await first.kill();
    await second.promote();
    await insert(db, 'on the first to be promoted');
    await third.promote();
    await eventually(() => excluded.some(({ reason }) => reason === 'another primary'));

    servers();
    await insert(db, 'beside the rival');
    await second.kill();
    await awaitHost(db, 'replica-1', ({ state }) => state === 'down');
    const waiting = insert(db, 'while it restarts').then(() => 'done');
    // Long enough for the rival to be probed, and elected if it could be.
    const seen = rwSplit(db).hosts()[2]?.served.writes;
    for (let n = 0; n < 3; n++) await rwSplit(db).checkNow();
    expect(rwSplit(db).hosts()[2]?.served.writes).toBe(seen);
    await second.start();

    expect(await waiting).toBe('done');
    expect(servers()).toEqual(['replica-1', 'replica-1']);
    expect(excluded).toContainEqual({ host: 'replica-2', reason: 'another primary' });
    expect(await third.query("select from notes where body like '%rival%'")).toEqual([]);
  });
});

describe('A primary that is written under two names', () => {
  const proxies: ChaosProxy[] = [];
  afterEach(async () => {
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  it('is no rival of itself, restarts, and is followed where the first name moves', async () => {
    const [first, second] = hosts();
    const proxy = await startChaosProxy(first);
    proxies.push(proxy);
    const { db, servers } = await warm({
      connection: { ...first.connection, port: proxy.port },
      rwSplit: {
        failover,
        replicas: hosts().map(({ name, host, port }) => ({ name, host, port })),
      },
    });
    const excluded: HostExcludedEvent[] = [];
    rwSplit(db).on('host:excluded', (event) => excluded.push(event));

    servers();
    for (let n = 0; n < 6; n++) await db('notes').count();
    await insert(db, 'before the restart');
    expect(new Set(servers().slice(0, -1))).toEqual(new Set(['replica-1', 'replica-2']));

    await first.kill();
    await eventually(
      () =>
        rwSplit(db)
          .hosts()
          .filter(({ state }) => state === 'down').length === 2,
    );
    const waiting = insert(db, 'after the restart').then(() => 'done');
    await first.start();
    expect(await waiting).toBe('done');
    expect(servers()).toEqual(['primary']);

    await first.kill();
    await second.promote();
    proxy.retarget(second);
    proxy.cut();
    await insert(db, 'behind the name that moved');
    expect(servers()).toEqual(['replica-1']);
    expect(excluded.map(({ reason }) => reason)).not.toContain('another primary');
  });
});

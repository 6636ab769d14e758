import { afterEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { type ChaosProxy, startChaosProxy } from '../../support/chaos-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { useFailover } from '../../support/failover.ts';
import { delayCommits } from '../../support/replay-delay.ts';

const consistency = 'session';
const lateMillis = 600_000;
const pairs = 40;

describe('A session', () => {
  const { cluster, hosts, warm, cold } = useFailover();
  const proxies: ChaosProxy[] = [];

  afterEach(async () => {
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  /** Who served reads right after writes; undefined for each that did not see its write. */
  const readersAfterWrites = async (db: Knex): Promise<(string | undefined)[]> =>
    Promise.all(
      Array.from({ length: pairs }, async (_, n) =>
        rwSplit(db).session({}, async () => {
          const [{ id }] = await db('notes').insert({ rank: n }).returning('id');
          const row = await db('notes').where({ id }).first(db.raw('served_by() as server'));
          return row?.server;
        }),
      ),
    );

  it('reads nothing from a replica that still follows the old primary', async () => {
    const [first, second, orphan] = hosts();
    const { db } = await warm({ rwSplit: { consistency } });
    await second.promote();
    await awaitHost(db, second.name, ({ role }) => role === 'primary');
    // So that the orphan is ahead of all that the new primary will write in this test.
    await first.query(
      `insert into notes (body) select 'old ' || n from generate_series(1, 5000) n`,
    );
    const [{ lsn } = { lsn: '' }] = await first.query<{ lsn: string }>(
      'select pg_current_wal_lsn()::text as lsn',
    );
    await eventually(async () => {
      const [row] = await orphan.query<{ isThere: boolean }>(
        'select pg_last_wal_replay_lsn() >= $1::pg_lsn as "isThere"',
        [lsn],
      );
      return row?.isThere;
    });

    const readers = await readersAfterWrites(db);

    expect(new Set(readers)).toEqual(new Set([second.name]));
  });

  it('goes on with a token of before the promotion', async () => {
    const [, second] = hosts();
    const { db } = await warm({ rwSplit: { consistency } });
    const token = await rwSplit(db).session({}, async () => {
      await db('notes').insert({ body: 'before the promotion' });
      return rwSplit(db).token();
    });
    await cluster().waitForReplay();
    await second.promote();
    await awaitHost(db, second.name, ({ role }) => role === 'primary');

    const seen = await rwSplit(db).session({ after: token }, async () =>
      Promise.all(
        Array.from({ length: 10 }, async () =>
          db('notes').where({ body: 'before the promotion' }).pluck('rank'),
        ),
      ),
    );

    expect(seen.flat()).toEqual(Array(10).fill(0));
  });

  it('sees its writes where one name stands for a replica that is late and one that is not', async () => {
    const [, fresh, late] = hosts();
    await delayCommits(late, lateMillis);
    const proxy = await startChaosProxy(fresh);
    proxies.push(proxy);
    const replicas = [{ name: 'reader', host: proxy.host, port: proxy.port }];
    const { db } = cold({ pool: { min: 0, max: 8 }, rwSplit: { consistency, replicas } });
    const openBoth = async (): Promise<Set<string>> => {
      for (const target of [fresh, late]) {
        proxy.retarget(target);
        await Promise.all(
          Array.from({ length: target === fresh ? 4 : 8 }, async () =>
            db.raw('select pg_sleep(0.1)'),
          ),
        );
      }
      const rows = await Promise.all(
        Array.from({ length: 40 }, async () => db('here').first('host')),
      );
      return new Set(rows.map(({ host }) => host));
    };
    await db('here').first();
    expect(await openBoth()).toEqual(new Set([fresh.name, late.name]));

    const readers = await readersAfterWrites(db);

    expect(readers).not.toContain(undefined);
    expect(readers).not.toContain(late.name);
  });

  it('without a primary reads from a replica that has what it wrote, and waits for one otherwise', async () => {
    const [first, second, third] = hosts();
    const { db } = await warm({ rwSplit: { consistency, failover: { waitMillis: 500 } } });
    const tokens: (string | undefined)[] = [];
    const write = async (): Promise<void> =>
      rwSplit(db).session({}, async () => {
        await db('notes').insert({ rank: 1 });
        tokens.push(rwSplit(db).token());
      });
    await write();
    await cluster().waitForReplay();
    await Promise.all([second, third].map(async (host) => delayCommits(host, lateMillis)));
    await write();
    await first.kill();

    const read = async (after: string | undefined): Promise<unknown> =>
      rwSplit(db).session({ after }, async () => (await db('here').first('host')).host);

    expect(await read(tokens[0])).toMatch(/^replica/);
    await expect(read(tokens[1])).rejects.toMatchObject({ code: 'RWSPLIT_STALE' });
    expect(await read(undefined)).toMatch(/^replica/);
  });
});

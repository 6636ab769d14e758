import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { setSettings } from '../../support/set-settings.ts';
import { statementsSeen } from '../../support/statements-seen.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

describe('Hosts of which nobody says who the primary is', () => {
  const { cluster, hosts, cold } = useFailover();

  beforeAll(async () => {
    await hosts()[0].query('create extension if not exists pg_stat_statements');
  });

  /** All of them in one URL, in the order given. */
  const urlOf = (...order: readonly (0 | 1 | 2)[]): string => {
    const addresses = order.map((index) => addressOf(hosts()[index])).join(',');
    return cluster().url.replace(/(?<=@)[^/]+/, addresses);
  };

  it('tell it by recovery, and not by what transactions may do by default', async () => {
    const [first, second] = hosts();
    await setSettings(first, { default_transaction_read_only: 'on' });
    await setSettings(second, { default_transaction_read_only: 'off' });
    const { db, servers } = cold({ connection: urlOf(1, 0, 2) });

    await db.transaction(async (trx) => {
      await trx.raw('set transaction read write');
      await insert(trx, 'by recovery');
    });

    expect(new Set(servers())).toEqual(new Set(['primary']));
    expect(
      rwSplit(db)
        .hosts()
        .map(({ role }) => role),
    ).toEqual(['replica', 'primary', 'replica']);
  });

  it('swap their roles when one is promoted and the other joins it', async () => {
    const [first, second, third] = hosts();
    const { db, servers } = cold({ connection: urlOf(0, 1, 2) });
    await insert(db, 'before');

    await second.promote();
    await first.rejoin();
    await third.rejoin();
    await awaitHost(db, addressOf(first), ({ role, reason }) => role === 'replica' && !reason);
    await awaitHost(db, addressOf(third), ({ reason }) => !reason);
    servers();
    await insert(db, 'after');
    expect(servers()).toEqual(['replica-1']);

    await eventually(async () => {
      for (let n = 0; n < 10; n++) await db('notes').count();
      expect(new Set(servers())).toEqual(new Set(['primary', 'replica-2']));
    });
  });

  it('with two primaries, the old one written first or last, mean the later one', async () => {
    const [first, second] = hosts();
    await second.promote();

    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
    ] as const) {
      const before = await statementsSeen(first);
      const { db, servers } = cold({ connection: urlOf(...order) });
      const fenced: string[] = [];
      rwSplit(db).on('host:fenced', ({ host }) => fenced.push(host));

      await Promise.all([
        insert(db, `one, ${order.join()}`),
        insert(db, `two, ${order.join()}`),
        db('notes').count(),
      ]);

      expect(servers()).not.toContain('primary');
      expect(fenced).toEqual([addressOf(first)]);
      expect(await statementsSeen(first)).toEqual(before);
      // The third one follows the old primary still.
      expect(new Set(servers())).not.toContain('replica-2');
    }
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { replicasOf } from '../../support/split.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

describe('A promoted replica that the function of replicas names no more', () => {
  const { cluster, hosts, warm } = useFailover();

  it.each(['alive', 'dead'])('takes the writes where the old primary is %s', async (what) => {
    const [first, second] = hosts();
    const all = replicasOf(cluster());
    let list = all;
    const { db, servers } = await warm({
      rwSplit: {
        replicas: async () => list,
        discovery: { intervalMillis: 100 },
        // The list changes long before a probe could tell of the promotion.
        health: { intervalMillis: 60_000 },
      },
    });

    if (what === 'dead') await first.kill();
    await second.promote();
    list = all.filter(({ name }) => name !== 'replica-1');
    await awaitHost(db, 'replica-1', ({ role, state }) => role === 'primary' && state === 'up');
    await awaitHost(db, addressOf(first), ({ state, reason }) =>
      what === 'dead' ? state !== 'up' : /old primary/.test(reason ?? ''),
    );
    servers();
    for (let n = 0; n < 5; n++) await insert(db, `${what} ${n}`);

    expect(servers()).toEqual(Array(5).fill('replica-1'));
    expect(
      rwSplit(db)
        .hosts()
        .map(({ name }) => name),
    ).toEqual([addressOf(first), 'replica-1', 'replica-2']);
  });
});

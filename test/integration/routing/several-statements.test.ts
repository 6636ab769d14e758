import { describe, expect, it } from '@jest/globals';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

describe('Several statements in a row', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it('are routed one by one', async () => {
    const { db, servers } = await split.warm({ rwSplit: { balancer: 'in-order' } });

    await db('notes').select();
    await db('notes').insert({ rank: 1 });
    await db('notes').first();
    await db('notes').update({ rank: 2 });
    await db.raw('select 1');
    await db('notes').del();

    const [replica, primary] = ['replica-1', 'primary'];
    expect(servers()).toEqual([replica, primary, replica, primary, replica, primary]);
  });

  it('are routed anew with each run of one builder', async () => {
    const { db, servers } = await split.warm({ rwSplit: { balancer: 'round-robin' } });
    const builder = db('notes').select();

    await builder;
    await builder;
    await builder;

    const [first, second, third] = servers();
    expect(new Set([first, second])).toEqual(new Set(['replica-1', 'replica-2']));
    expect(third).toBe(first);
  });

  it('follow a builder that becomes a write between two runs', async () => {
    const { db, servers } = await split.warm({ rwSplit: { balancer: 'in-order' } });
    const builder = db('notes').where('rank', -1);

    await builder;
    await builder.update({ rank: 1 });

    expect(servers()).toEqual(['replica-1', 'primary']);
  });

  it('share one text: all reads run on a replica, one write takes them to the primary', async () => {
    const { db, servers } = await split.warm({ rwSplit: { balancer: 'in-order' } });

    await db.raw('select 1; select 2');
    await db.raw('select 1; delete from notes where rank = -1');
    await db.raw('delete from notes where rank = -1; select 1');

    expect(servers()).toEqual(['replica-1', 'primary', 'primary']);
  });

  it('run at once on different servers', async () => {
    const { db, servers } = await split.warm({ rwSplit: { balancer: 'least-connections' } });

    await Promise.all([
      db.raw('select pg_sleep(0.05)'),
      db.raw('select pg_sleep(0.05)'),
      db('notes').insert({ rank: 3 }),
    ]);

    expect(new Set(servers())).toEqual(new Set(['replica-1', 'replica-2', 'primary']));
  });
});

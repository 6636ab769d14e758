import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { registerBalancer, rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { until } from '../../../lib/testing/until.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

describe('Balanced reads', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it('follow the weights of the replicas', async () => {
    const [first, second] = replicasOf(cluster());
    const replicas = [
      { ...first, weight: 3 },
      { ...second, weight: 1 },
    ];
    const { db, servers } = await split.warm({ rwSplit: { replicas } });

    for (let read = 0; read < 400; read++) await db.raw('select 1');

    const share = servers().filter((name) => name === 'replica-1').length / 400;
    // The warm-up asked each host by name, which takes no turn.
    expect(share).toBeCloseTo(0.75, 2);
  });

  it('include the primary where it serves reads, by its weight', async () => {
    const { db, servers } = await split.warm({ rwSplit: { primaryReads: 2 } });

    for (let read = 0; read < 40; read++) await db.raw('select 1');

    const share = servers().filter((name) => name === 'primary').length / 40;
    expect(share).toBeCloseTo(0.5, 1);
  });

  it('leave a replica of weight 0 for when no other serves', async () => {
    const [first, second] = replicasOf(cluster());
    const replicas = [{ ...first, weight: 0 }, { ...second }];
    const { db, servers } = await split.warm({ rwSplit: { replicas } });

    for (let read = 0; read < 4; read++) await db.raw('select 1');
    await rwSplit(db).drain('replica-2');
    await db.raw('select 1');

    expect(servers()).toEqual([...Array<string>(4).fill('replica-2'), 'replica-1']);
  });

  it('go to the next replicas by priority while the first is away, and back', async () => {
    const { db, servers } = await split.warm({
      rwSplit: { balancer: { name: 'priority', first: 1 } },
    });

    await db.raw('select 1');
    await rwSplit(db).drain('replica-1');
    await db.raw('select 1');
    rwSplit(db).readmit('replica-1');
    await db.raw('select 1');

    expect(servers()).toEqual(['replica-1', 'replica-2', 'replica-1']);
  });

  it('avoid a slow host by its queries in flight', async () => {
    const { db, servers } = await split.warm({ rwSplit: { balancer: 'least-connections' } });
    const slow = ['slow', 'slower'].map(() =>
      db
        .raw('select pg_sleep(0.5)')
        .queryContext({ rwSplit: { host: 'replica-1' } })
        .timeout(10_000),
    );
    const both = Promise.all(slow);
    const sent: string[] = [];
    await until('both are sent', 10_000, async () => sent.push(...servers()) === 2);

    for (let read = 0; read < 10; read++) await db.raw('select 1');

    expect(servers()).toEqual(Array(10).fill('replica-2'));
    await both;
  });

  it('use a balancer of the application, by a name or as a function', async () => {
    const last = { pick: <H>(hosts: readonly [H, ...H[]]): H => hosts.at(-1) ?? hosts[0] };
    registerBalancer('last', () => last);
    const byName = await split.warm({ rwSplit: { balancer: 'last' } });
    const byFunction = await split.warm({ rwSplit: { balancer: () => last } });

    for (const { db } of [byName, byFunction]) for (let i = 0; i < 3; i++) await db.raw('select 1');

    expect(byName.servers()).toEqual(Array(3).fill('replica-2'));
    expect(byFunction.servers()).toEqual(Array(3).fill('replica-2'));
  });

  it('run on the host, or the replicas with the tag, that a query names', async () => {
    const [first, second] = replicasOf(cluster());
    const replicas = [
      { ...first, tags: ['reports', 'near'] },
      { ...second, tags: ['near'] },
    ];
    const { db, servers } = await split.warm({ rwSplit: { replicas } });
    const read = (rwSplit: object): Knex.QueryBuilder => db('notes').queryContext({ rwSplit });
    const { host, port } = cluster().primary;

    for (let i = 0; i < 3; i++) await read({ host: 'replica-2' });
    await read({ host: `${host}:${port}` });
    for (let i = 0; i < 3; i++) await read({ tag: 'reports' });
    for (let i = 0; i < 2; i++) await read({ tag: 'near' });

    const [one, two, ...more] = servers().toReversed();
    expect(new Set([one, two])).toEqual(new Set(['replica-1', 'replica-2']));
    expect(more.toReversed()).toEqual([
      ...Array<string>(3).fill('replica-2'),
      'primary',
      ...Array<string>(3).fill('replica-1'),
    ]);
  });

  it('with a tag that no replica has follow fallback', async () => {
    const [falling, failing] = await Promise.all([
      split.warm(),
      split.warm({ rwSplit: { fallback: 'error' } }),
    ]);
    const hint = { rwSplit: { tag: 'nowhere' } };

    await falling.db('notes').queryContext(hint);
    const failure = failing.db('notes').queryContext(hint);

    expect(falling.servers()).toEqual(['primary']);
    await expect(failure).rejects.toMatchObject({ code: 'RWSPLIT_NO_HOST' });
  });
});

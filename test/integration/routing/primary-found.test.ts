import { beforeAll, describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

// Where the primary stands among the hosts of the URL, and who stands around it.
const orders = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [2, 0, 1],
  [1, 2, 0],
  [2, 1, 0],
] as const;

describe('A primary that nobody names', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');
  let urls: string[] = [];

  beforeAll(() => {
    const addresses = cluster().hosts.map(({ host, port }) => `${host}:${port}`);
    urls = orders.map((order) => {
      const hosts = order.map((index) => addresses[index]).join(',');
      return cluster().url.replace(addresses.join(','), hosts);
    });
  });

  it.each(orders.map((order, index) => [order.join(', '), index]))(
    'is found by the first write, with the hosts in the order %s',
    async (_, index) => {
      const { db, servers } = split.cold({ connection: urls[index as number] ?? '' });

      await db('notes').insert({ rank: 1 });
      await db.transaction(async (trx) => trx('notes').select());
      await db.schema.hasTable('notes');

      const asked = servers();
      expect(new Set(asked)).toEqual(new Set(['primary']));
      expect(
        rwSplit(db)
          .hosts()
          .filter(({ role }) => role === 'primary'),
      ).toHaveLength(1);
    },
  );

  it.each(orders.map((order, index) => [order.join(', '), index]))(
    'serves no reads, with the hosts in the order %s',
    async (_, index) => {
      const { db, servers } = split.cold({ connection: urls[index as number] ?? '' });
      await rwSplit(db).checkNow();

      for (let read = 0; read < 6; read++) await db.raw('select 1');

      expect(new Set(servers())).toEqual(new Set(['replica-1', 'replica-2']));
    },
  );

  it.each(orders.map((order, index) => [order.join(', '), index, order] as const))(
    'takes no place among the replicas, with the hosts in the order %s',
    async (_, index, order) => {
      const connection = urls[index] ?? '';
      const first = `replica-${order.find((host) => host !== 0)}`;

      for (const balancer of ['in-order', { name: 'priority', first: 1 }] as const) {
        const { db, servers } = await split.warm({ connection, rwSplit: { balancer } });
        for (let read = 0; read < 4; read++) await db.raw('select 1');
        expect(servers()).toEqual(Array(4).fill(first));
      }
    },
  );

  it.each(orders.map((order, index) => [order.join(', '), index]))(
    'serves reads by its own weight where it is to, with the hosts in the order %s',
    async (_, index) => {
      const { db, servers } = await split.warm({
        connection: urls[index as number] ?? '',
        rwSplit: { primaryReads: 2 },
      });

      for (let read = 0; read < 40; read++) await db.raw('select 1');

      const shares = servers().reduce<Record<string, number>>(
        (counts, name) => ({ ...counts, [name]: (counts[name] ?? 0) + 1 / 40 }),
        {},
      );
      expect(shares['primary']).toBeCloseTo(0.5, 1);
      expect(shares['replica-1']).toBeCloseTo(0.25, 1);
      expect(shares['replica-2']).toBeCloseTo(0.25, 1);
    },
  );

  it('is announced where the configuration said otherwise', async () => {
    const { db } = split.cold({ connection: urls[2] ?? '' });
    const { host, port } = cluster().primary;
    const changes: unknown[] = [];
    rwSplit(db).on('host:role', (event) => changes.push(event));

    await db('notes').insert({ rank: 1 });

    expect(changes).toContainEqual({
      host: `${host}:${port}`,
      role: 'primary',
      was: 'replica',
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import type { BalancerOption } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

interface Here {
  readonly host: string;
}

const ways: [string, (db: Knex) => Promise<string>][] = [
  ['builders', async (db) => (await db<Here>('here').first('host'))?.host ?? ''],
  [
    'raw texts',
    async (db) =>
      (await db.raw<{ rows: Here[] }>('select served_by() as host')).rows[0]?.host ?? '',
  ],
  [
    'streams',
    async (db) => {
      for await (const row of db('here').select('host').stream()) return (row as Here).host;
      return '';
    },
  ],
];

async function serve(times: number, ask: () => Promise<string>): Promise<string[]> {
  const hosts: string[] = [];
  for (let i = 0; i < times; i++) hosts.push(await ask());
  return hosts;
}

const split = useSplit(useRoutingDatabase(), 'eventual');

describe.each(ways)('Reads as %s', (_, ask) => {
  const balanced = async (balancer: BalancerOption): Promise<Knex> =>
    (await split.warm({ rwSplit: { balancer } })).db;

  it('take the replicas in turn', async () => {
    const db = await balanced('round-robin');

    const [first, second, ...more] = await serve(6, async () => ask(db));

    expect(new Set([first, second])).toEqual(new Set(['replica-1', 'replica-2']));
    expect(more).toEqual([first, second, first, second]);
  });

  it('are shuffled among the replicas, in no rhythm', async () => {
    const db = await balanced('shuffle');

    const hosts = await serve(40, async () => ask(db));

    expect(new Set(hosts)).toEqual(new Set(['replica-1', 'replica-2']));
    // All different from their neighbour is a rotation; by chance it is one in 2³⁹.
    expect(hosts.some((host, index) => host === hosts[index + 1])).toBe(true);
  });

  it('stay with the first replica by priority', async () => {
    const db = await balanced({ name: 'priority', first: 1 });

    const hosts = await serve(6, async () => ask(db));

    expect(hosts).toEqual(Array(6).fill('replica-1'));
  });

  it('run on the primary when it is the target', async () => {
    const { db } = await split.warm({ rwSplit: { target: 'primary' } });

    await expect(serve(3, async () => ask(db))).resolves.toEqual(Array(3).fill('primary'));
  });

  it('run on replicas when those are the target', async () => {
    const { db } = await split.warm({ rwSplit: { target: 'replica' } });

    const hosts = await serve(4, async () => ask(db));

    expect(new Set(hosts)).toEqual(new Set(['replica-1', 'replica-2']));
  });

  it('run on the primary inside a transaction, and on a replica right after it', async () => {
    const { db } = await split.warm();

    const inside = await db.transaction(async (trx) => {
      const before = await ask(trx);
      await trx('notes').insert({ rank: 1 });
      return [before, await ask(trx)];
    });
    const after = await ask(db);

    expect(inside).toEqual(['primary', 'primary']);
    expect(after).toMatch(/^replica/);
  });
});

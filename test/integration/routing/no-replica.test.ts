import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { NoHostAvailableError, rwSplit } from '../../../lib/index.ts';
import type { RWSplitOptions } from '../../../lib/index.ts';
import { eventually } from '../../support/eventually.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { type Split, useSplit } from '../../support/split.ts';

const served: [string, RWSplitOptions][] = [
  ["target 'split'", { target: 'split' }],
  ["target 'primary'", { target: 'primary' }],
  ["target 'prefer-replica'", { target: 'prefer-replica' }],
  [
    "target 'prefer-replica', whatever fallback says",
    { target: 'prefer-replica', fallback: 'error' },
  ],
  ["target 'any'", { target: 'any' }],
];

const refused: [string, RWSplitOptions][] = [
  ["target 'replica'", { target: 'replica' }],
  ["target 'replica', whatever fallback says", { target: 'replica', fallback: 'primary' }],
  ["fallback 'error'", { fallback: 'error' }],
];

describe('With every replica drained', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  const alone = async (options: RWSplitOptions): Promise<Split> => {
    const made = await split.warm({ rwSplit: options });
    await rwSplit(made.db).drain('replica-1');
    await rwSplit(made.db).drain('replica-2');
    return made;
  };

  it.each(served)('%s: reads run on the primary', async (_, options) => {
    const { db, servers } = await alone(options);

    await db('notes').select();
    await db.transaction(async (trx) => trx('notes').select(), { readOnly: true });

    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it.each(refused)('%s: reads fail with every host named', async (_, options) => {
    const { db, servers } = await alone(options);
    const { host, port } = cluster().primary;

    const read = db('notes').select();
    const failure = {
      code: 'RWSPLIT_NO_HOST',
      intent: 'read',
      hosts: [
        { name: `${host}:${port}`, state: 'is a primary' },
        { name: 'replica-1', state: 'is draining' },
        { name: 'replica-2', state: 'is draining' },
      ],
    };

    await expect(read).rejects.toThrow(NoHostAvailableError);
    await expect(read).rejects.toMatchObject(failure);
    await expect(
      db.transaction(async (trx) => trx('notes').select(), { readOnly: true }),
    ).rejects.toMatchObject(failure);
    expect(servers()).toEqual([]);
  });

  it("target 'replica': writes fail too, instead of running on the primary", async () => {
    const { db, servers } = await alone({ target: 'replica' });

    await expect(db('notes').insert({ body: 'lost' })).rejects.toThrow(NoHostAvailableError);
    await expect(db.raw('do $$ begin end $$')).rejects.toThrow(NoHostAvailableError);
    expect(servers()).toEqual([]);
  });

  it.each([{ fallback: 'primary' }, { fallback: 'error' }] as const)(
    '%j: writes, transactions and unproved texts run on the primary',
    async (options) => {
      const { db, servers } = await alone(options);

      await db('notes').insert({ rank: 1 });
      await db.transaction(async (trx) => trx('notes').select());
      await db.raw('do $$ begin end $$');

      expect(new Set(servers())).toEqual(new Set(['primary']));
    },
  );

  it('a stream fails as its query would', async () => {
    const { db } = await alone({ fallback: 'error' });

    const rows = db('notes').select().stream();

    await expect(rows.toArray()).rejects.toThrow(NoHostAvailableError);
  });

  it('reads that wait for their share of the primary leave it to a readmitted one', async () => {
    const { db, servers } = await alone({ fallbackShare: 0.2 });
    const slow = db('notes').select().whereRaw('pg_sleep(1) is null');
    const read = async (): Promise<unknown> => db('here').select('host');
    await read();
    servers();
    const holding = slow.then(() => 'held');
    await eventually(() => servers().length > 0);
    const waiting = Array.from({ length: 4 }, read);
    // Nothing shows that they wait.
    await sleep(100);

    rwSplit(db).readmit('replica-1');
    await expect(Promise.race([holding, Promise.all(waiting)])).resolves.toHaveLength(4);

    expect(servers()).toEqual(Array.from({ length: 4 }, () => 'replica-1'));
    await holding;
  });

  it('a readmitted one serves again at once', async () => {
    const { db, servers } = await alone({ fallback: 'error' });

    rwSplit(db).readmit('replica-2');
    await db('notes').select();

    expect(servers()).toEqual(['replica-2']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { onPrimary, onReplica, rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

const aReplica: unknown = expect.stringMatching(/^replica/);
const cluster = useRoutingDatabase();
const split = useSplit(cluster, 'eventual');

describe('onPrimary(fn)', () => {
  it('sends everything in it to the primary, and nothing else', async () => {
    const { db, servers } = await split.warm();
    await db('notes').select();

    const answer = await rwSplit(db).onPrimary(async () => {
      await db('notes').select();
      await db.raw('select 1');
      await db('notes').select().stream().toArray();
      await db.transaction(async (trx) => trx('notes').select(), { readOnly: true });
      return 'answer';
    });
    await db('notes').select();

    const [before, ...asked] = servers();
    expect(answer).toBe('answer');
    expect([before, asked.pop()]).toEqual([aReplica, aReplica]);
    expect(new Set(asked)).toEqual(new Set(['primary']));
  });

  it('holds for what it starts, at any depth and however late', async () => {
    const { db, servers } = await split.warm();

    const nested = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([db('notes').select(), db('notes').first()]);
    };
    await rwSplit(db).onPrimary(() => nested());

    expect(servers()).toEqual(['primary', 'primary']);
  });

  it('holds for the builders that are run in it, wherever they were made', async () => {
    const { db, servers } = await split.warm();
    const outside = db('notes').select();

    await rwSplit(db).onPrimary(async () => outside);

    expect(servers()).toEqual(['primary']);
  });

  it('gives way to the hint of a query', async () => {
    const { db, servers } = await split.warm();

    await rwSplit(db).onPrimary(async () => onReplica(db('notes').select()));

    expect(servers()).toEqual([aReplica]);
  });

  it('does not leak into what runs beside it', async () => {
    const { db, servers } = split.cold({ rwSplit: { fallback: 'error' } });

    await Promise.all([rwSplit(db).onPrimary(async () => db.raw('select 1')), db.raw('select 2')]);

    expect(new Set(servers())).toEqual(new Set(['primary', aReplica]));
  });

  it('holds for a builder that a plain function returns', async () => {
    const { db, servers } = await split.warm();

    const host = await rwSplit(db).onPrimary(() => db('here').first('host'));
    await rwSplit(db).onPrimary(() => db.raw('select 1'));

    expect(host).toEqual({ host: 'primary' });
    expect(servers()).toEqual(['primary', 'primary']);
  });

  it('answers with what a plain function returns', async () => {
    const { db } = await split.warm();

    expect(rwSplit(db).onPrimary(() => 7)).toBe(7);
  });
});

describe('onReplica(fn)', () => {
  it('sends reads to replicas, and writes where they always go', async () => {
    const { db, servers } = await split.warm();

    await rwSplit(db).onReplica(async () => {
      await db('notes').select();
      await db('notes').insert({ rank: 1 });
      await db.raw('do $$ begin end $$');
    });

    expect(servers()).toEqual([aReplica, 'primary', 'primary']);
  });

  it('holds for a builder that a plain function returns', async () => {
    const { db, servers } = await split.warm({ rwSplit: { target: 'primary' } });

    const host = await rwSplit(db).onReplica(() => db('here').first('host'));

    expect(host).toEqual({ host: aReplica });
    expect(servers()).toEqual([aReplica]);
  });

  it('leaves a plain transaction on the primary, and its reads with it', async () => {
    const { db, servers } = await split.warm();

    await rwSplit(db).onReplica(async () =>
      db.transaction(async (trx) => {
        await trx('notes').insert({ rank: 2 });
        await trx('notes').select();
      }),
    );

    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it('sends a read-only transaction to one replica', async () => {
    const { db, servers } = await split.warm();

    await rwSplit(db).onReplica(async () =>
      db.transaction(async (trx) => trx('notes').select(), { readOnly: true }),
    );

    expect([...new Set(servers())]).toEqual([aReplica]);
  });

  it('keeps reads off the primary, even where they would fall back to it', async () => {
    const { db, servers } = await split.warm({ rwSplit: { primaryReads: 100 } });
    for (const { name } of cluster().replicas) await rwSplit(db).drain(name);

    const read = rwSplit(db).onReplica(async () => db('notes').select());

    await expect(read).rejects.toMatchObject({ code: 'RWSPLIT_NO_HOST' });
    expect(servers()).toEqual([]);
  });

  it('takes reads to replicas where the target is the primary', async () => {
    const { db, servers } = await split.warm({ rwSplit: { target: 'primary' } });

    await rwSplit(db).onReplica(async () => db('notes').select());
    await db('notes').select();

    expect(servers()).toEqual([aReplica, 'primary']);
  });

  it('gives way to the hint of a query, and to a scope in it', async () => {
    const { db, servers } = await split.warm();
    const handle = rwSplit(db);

    await handle.onReplica(async () => {
      await onPrimary(db('notes').select());
      await handle.onPrimary(async () => db('notes').select());
      await db('notes').select();
    });

    expect(servers()).toEqual(['primary', 'primary', aReplica]);
  });
});

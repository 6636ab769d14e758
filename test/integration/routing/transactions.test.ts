import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

interface Session {
  readonly pid: number;
  readonly host: string;
}

async function session(db: Knex): Promise<Session> {
  const { rows } = await db.raw<{ rows: Session[] }>(
    'select pg_backend_pid() as pid, served_by() as host',
  );
  return rows[0] ?? { pid: 0, host: '' };
}

describe('A transaction', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it('stays on one session of the primary, with its nested ones', async () => {
    const { db, servers } = await split.warm();

    const sessions = await db.transaction(async (trx) => {
      const outer = await session(trx);
      await trx('notes').insert({ rank: 1 });
      const nested = await trx.transaction(async (inner) => session(inner));
      await trx('notes').where('rank', 1).select();
      return [outer, nested, await session(trx)];
    });

    expect(new Set(sessions.map(({ pid }) => pid))).toHaveProperty('size', 1);
    expect(sessions[0]?.host).toBe('primary');
    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it('sees what it has written, and others see it once it is committed', async () => {
    const { db } = await split.warm();

    const [inside, outside] = await db.transaction(async (trx) => {
      await trx('notes').insert({ body: 'unseen' });
      const unseen = { body: 'unseen' };
      return [
        await trx('notes').where(unseen),
        await cluster().primary.query("select from notes where body = 'unseen'"),
      ];
    });

    expect(inside).toHaveLength(1);
    expect(outside).toEqual([]);
    await expect(
      cluster().primary.query("select from notes where body = 'unseen'"),
    ).resolves.toHaveLength(1);
  });

  it('leaves the outer instance outside, as in plain Knex', async () => {
    const { db, servers } = await split.warm();
    // Known from here on: on a busy machine, a first look may take longer than a read waits for.
    await db('notes').select();

    await db.transaction(async (trx) => {
      await trx('notes').insert({ rank: 1 });
      servers();
      await db('notes').select();
    });

    expect(servers()[0]).toMatch(/^replica/);
  });

  it('is one session from a transactionProvider, too', async () => {
    const { db, servers } = await split.warm();
    const provide = db.transactionProvider();

    const [first, second] = [await provide(), await provide()];
    const sessions = [await session(first), await session(second)];
    await first.commit();

    expect(sessions[0]).toEqual(sessions[1]);
    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it('takes builders of the outer instance in by transacting()', async () => {
    const { db, servers } = await split.warm();

    await db.transaction(async (trx) => {
      await db('notes').insert({ rank: 1 }).transacting(trx);
      await db('notes').select().transacting(trx);
    });

    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it('rolls back, and gives its connection back, when its function fails', async () => {
    const { db } = await split.warm();

    const outcome = db.transaction(async (trx) => {
      await trx('notes').insert({ body: 'rolled back' });
      throw new Error('mine');
    });

    await expect(outcome).rejects.toThrow('mine');
    await expect(
      cluster().primary.query("select from notes where body = 'rolled back'"),
    ).resolves.toEqual([]);
  });
});

describe('A read-only transaction', () => {
  const split = useSplit(useRoutingDatabase(), 'eventual');

  it.each(['read committed', 'repeatable read', undefined] as const)(
    'stays on one session of a replica, with isolation level %s',
    async (isolationLevel) => {
      const { db, servers } = await split.warm();

      const sessions = await db.transaction(
        async (trx) => [await session(trx), await session(trx)],
        isolationLevel === undefined ? { readOnly: true } : { readOnly: true, isolationLevel },
      );

      expect(sessions[0]).toEqual(sessions[1]);
      expect(sessions[0]?.host).toMatch(/^replica/);
      expect([...new Set(servers())]).toEqual([sessions[0]?.host]);
    },
  );

  it('that is serializable uses the primary, as no standby knows that', async () => {
    const { db, servers } = await split.warm();

    await db.transaction(async (trx) => trx('notes').select(), {
      readOnly: true,
      isolationLevel: 'serializable',
    });

    expect(new Set(servers())).toEqual(new Set(['primary']));
  });

  it('passes on the refusal of a write, and runs it nowhere else', async () => {
    const { db, servers } = await split.warm();
    const misroutes: unknown[] = [];
    rwSplit(db).on('misroute', (event) => misroutes.push(event));

    const outcome = db.transaction(async (trx) => trx('notes').insert({}), { readOnly: true });

    await expect(outcome).rejects.toMatchObject({ code: '25006' });
    expect([...new Set(servers())]).toEqual([expect.stringMatching(/^replica/)]);
    expect(misroutes).toEqual([]);
  });

  it('streams from its replica', async () => {
    const { db, servers } = await split.warm();

    await db.transaction(async (trx) => trx('here').select().stream().toArray(), {
      readOnly: true,
    });

    expect([...new Set(servers())]).toEqual([expect.stringMatching(/^replica/)]);
  });
});

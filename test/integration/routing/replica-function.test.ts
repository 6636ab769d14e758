import { describe, expect, it } from '@jest/globals';
import { ConfigError, type Host, NoHostAvailableError, rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

describe('An async function that names the replicas', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  it('is asked by the first statement, once', async () => {
    let asked = 0;
    const replicas = async (): Promise<Host[]> => {
      asked++;
      return replicasOf(cluster());
    };
    const { db, servers } = split.cold({ rwSplit: { replicas } });
    expect(asked).toBe(0);

    await Promise.all([
      db('notes').insert({ body: 'asked' }),
      db('notes').insert({ body: 'once' }),
    ]);
    for (let i = 0; i < 4; i++) await db('here').select('host');

    expect(asked).toBe(1);
    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1', 'replica-2']));
  });

  it('leaves reads to the fallback while it fails, and is asked again', async () => {
    let isDown = true;
    const replicas = async (): Promise<Host[]> => {
      if (isDown) throw new Error('the directory is away');
      return replicasOf(cluster());
    };
    const { db, servers } = split.cold({ rwSplit: { replicas } });
    const failures: string[] = [];
    rwSplit(db).on('discovery:error', ({ error }) => failures.push(error.message));

    await db('here').select('host');
    expect(servers()).toEqual(['primary']);
    expect(failures).toEqual(['the directory is away']);
    isDown = false;

    await expect(untilReplicaServes(() => db('here').select('host'), servers)).resolves.toMatch(
      /^replica-/,
    );
  });

  it('leaves reads without a host where nothing may stand in', async () => {
    const replicas = async (): Promise<Host[]> => {
      throw new Error('the directory is away');
    };
    const { db } = split.cold({ rwSplit: { replicas, fallback: 'error' } });

    // No name that would have to be looked up first, and may be too late for it.
    await expect(db.raw('select 1')).rejects.toThrow(NoHostAvailableError);
    await expect(db('notes').insert({ body: 'written' })).resolves.toBeDefined();
  });

  it('holds statements up no longer than they may wait when it never answers', async () => {
    const { db, servers } = split.cold({
      acquireConnectionTimeout: 500,
      rwSplit: { replicas: async () => new Promise<Host[]>(() => undefined) },
    });
    const failures: string[] = [];
    rwSplit(db).on('discovery:error', ({ error }) => failures.push(error.message));

    await Promise.all([db('notes').insert({ rank: 1 }), db('here').select('host')]);

    expect(servers()).toEqual(['primary', 'primary']);
    expect(failures).toEqual(['rwSplit.replicas() did not answer within 500 ms.']);
  });

  it('fails the first statement when its answer is a mistake', async () => {
    const twice = [...replicasOf(cluster()), ...replicasOf(cluster())];
    const { db } = split.cold({ rwSplit: { replicas: async () => twice } });
    const failures: unknown[] = [];
    rwSplit(db).on('discovery:error', ({ error }) => failures.push(error));

    const error = await db('here')
      .select('host')
      .catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ path: expect.stringMatching(/^rwSplit\.replicas/) });
    expect(failures).toEqual([error]);
  });
});

/** Reads until a replica has served, and names it; the function is not asked again at once. */
async function untilReplicaServes(
  read: () => PromiseLike<unknown>,
  servers: () => string[],
): Promise<string> {
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline) {
    await read();
    const served = servers().find((name) => name !== 'primary');
    if (served !== undefined) return served;
  }
  return 'none within 10 s';
}

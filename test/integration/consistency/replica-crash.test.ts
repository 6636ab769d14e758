import { beforeAll, describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { eventually } from '../../support/eventually.ts';
import { quickHealth } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayCommits } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { useSplit } from '../../support/split.ts';

const lateMillis = 600_000;

describe('A session whose replica loses a process to a crash', () => {
  const cluster = useOwnCluster({ replicas: 1, settings: { checkpoint_timeout: '1h' } });
  const split = useSplit(cluster);

  beforeAll(async () => {
    await createRoutingSchema(cluster());
  });

  const crash = async (replica: TestHost): Promise<void> => {
    const backends = await replica.query<{ pid: number }>(
      `select pid from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    for (const { pid } of backends.slice(0, 1)) process.kill(pid, 'SIGKILL');
  };

  // The server itself goes on, with the time of its start, and begins its replay once more.
  it('reads nothing older from it', async () => {
    const { primary, replicas } = cluster();
    const { db } = await split.warm({ rwSplit: { health: quickHealth } });
    const [replica = primary] = replicas;
    // From here on it will replay once more.
    await primary.query('checkpoint');
    await replica.waitForReplay();
    await replica.query('checkpoint');

    await rwSplit(db).session({}, async () => {
      const [{ id }] = await db('notes').insert({ rank: 1 }).returning('id');
      const read = async (): Promise<unknown> =>
        db('notes').where({ id }).first('id', db.raw('served_by() as host'));
      const others = { rwSplit: { consistency: 'eventual' } };
      await replica.waitForReplay();
      await rwSplit(db).checkNow();
      const before = await read();
      await delayCommits(replica, lateMillis);
      await crash(replica);

      const seen: unknown[] = [];
      // Until it serves others again, and lacks the row.
      await eventually(
        async () => {
          seen.push(await read());
          return (await db('notes').where({ id }).queryContext(others)).length === 0;
        },
        { withinMillis: 10_000, everyMillis: 5 },
      );
      const after = [await read(), await read(), await read()];

      expect(before).toEqual({ id, host: replica.name });
      expect(seen).toEqual(seen.map(() => expect.objectContaining({ id })));
      expect(after).toEqual(after.map(() => ({ id, host: primary.name })));
    });
  });
});

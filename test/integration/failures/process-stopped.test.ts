import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { useChaosNetwork } from '../../support/chaos-network.ts';
import { runProgram } from '../../support/child.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const waitMillis = 1200;
const health = { intervalMillis: 100, timeoutMillis: 300 };

describe('A process that is stopped while a write waits for a primary', () => {
  const cluster = useRoutingDatabase();
  const network = useChaosNetwork(cluster);

  it('looks for one again when it goes on, however long that took', async () => {
    network.to('primary').refuse();
    const { connection, rwSplit: hosts } = network.config();
    const config = { connection, rwSplit: { ...hosts, health, failover: { waitMillis } } };

    const stop = async (child: ChildProcess): Promise<void> => {
      if (child.stdout !== null) await once(child.stdout, 'data');
      await sleep(200);
      child.kill('SIGSTOP');
      await network.to('primary').pass();
      await sleep(waitMillis + 1500);
      child.kill('SIGCONT');
    };
    const ended = await runProgram(
      `
        const db = knex({ client: library().RWSplitClient, ...${JSON.stringify(config)}, log: { warn() {} } });
        await db.raw('select 1');
        print('waits');
        try { print(await db('notes').insert({ body: 'when it went on' }).returning('body')); }
        catch (error) { print(error.message); }
        await db.destroy();
      `,
      (child) => void stop(child),
    );

    expect(ended).toMatchObject({
      exitCode: 0,
      printed: [{ body: 'when it went on' }],
      stderr: '',
    });
  });
});

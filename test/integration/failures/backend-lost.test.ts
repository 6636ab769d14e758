import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runProgram } from '../../support/child.ts';
import { quickHealth } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { replicasOf } from '../../support/split.ts';
import { root } from '../../support/source-file.ts';

describe('A process whose connections are ended by the server', () => {
  const cluster = useOwnCluster();

  beforeAll(async () => createRoutingSchema(cluster()));

  // In a process of its own, which an unhandled rejection or error event would end.
  it('goes on, and fails no read', async () => {
    const application = 'app-whose-backends-end';
    const [replica] = cluster().replicas;
    const connection = { ...cluster().connection(), application_name: application };
    const rwSplit = { replicas: replicasOf(cluster()), health: quickHealth };

    const ended = await runProgram(`
      const { Client } = require(${JSON.stringify(join(root, 'node_modules/pg'))});
      const { RWSplitClient, rwSplit } = library();
      const db = knex({
        client: RWSplitClient,
        connection: ${JSON.stringify(connection)},
        pool: { min: 0, max: 4 },
        rwSplit: ${JSON.stringify(rwSplit)},
      });
      let retries = 0;
      rwSplit(db).on('retry', () => retries++);

      const ask = async (text, values) => {
        const client = new Client(${JSON.stringify(replica?.connection)});
        client.on('error', () => undefined);
        try {
          await client.connect();
          return (await client.query(text, values)).rows;
        } catch {
          return [];
        } finally {
          await client.end().catch(() => undefined);
        }
      };
      const backends = async (state) => {
        const rows = await ask(
          'select pid from pg_stat_activity where application_name = $1 and state = $2',
          ['${application}', state],
        );
        return rows.map(({ pid }) => pid);
      };
      const end = async (pids) =>
        ask('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [pids]);
      const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
      // On the replica whose backends are ended, as long as they are not.
      const reads = (seconds) => Promise.all(
        Array.from({ length: 8 }, async () => db('here').select('host').whereRaw(
          "case when host = 'replica-1' then pg_sleep(?) is not null else true end", [seconds])),
      );
      const untilBusy = async () => {
        for (;;) {
          const pids = await backends('active');
          if (pids.length > 0) return pids;
          await pause();
        }
      };
      const untilUp = async () => {
        while (rwSplit(db).hosts().some(({ state }) => state !== 'up')) await pause();
      };
      const endAll = async (running) => {
        let isDone = false;
        running.finally(() => (isDone = true)).catch(() => undefined);
        while (!isDone) {
          await end(await backends('active'));
          await pause();
        }
        return running;
      };

      await rwSplit(db).checkNow();
      // The first look at a text may be late, and the read then runs on the primary.
      while ((await reads(0.05)).flat().some(({ host }) => host === 'primary')) await pause();
      const found = [];

      const idle = await backends('idle');
      await end(idle);
      found.push((await reads(0)).length);
      const ofIdle = retries;

      // A host that has lost connections gets no reads before its next probe.
      await untilUp();
      const running = reads(600);
      await untilBusy();
      found.push((await endAll(running)).length);
      const ofActive = retries - ofIdle;

      // The server ends every other session, too, and recovers.
      await untilUp();
      const crashed = reads(600);
      const [victim] = await untilBusy();
      process.kill(victim, 'SIGKILL');
      found.push((await endAll(crashed)).length);
      const ofCrash = retries - ofIdle - ofActive;

      await untilUp();
      found.push((await reads(0)).length);
      print({ found, idle: idle.length, ofActive, ofCrash });
      await db.destroy();
    `);

    expect(ended).toMatchObject({ exitCode: 0, printed: { found: [8, 8, 8, 8] } });
    expect(ended.stderr).toBe('');
    const { idle, ofActive, ofCrash } = ended.printed as Record<string, number>;
    // The probe's connection is among them.
    expect(idle).toBeGreaterThan(1);
    expect(ofActive).toBeGreaterThan(0);
    expect(ofCrash).toBeGreaterThan(0);
  });
});

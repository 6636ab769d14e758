import { describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost } from '../../support/await-host.ts';
import { machineMillis, quickHealth } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { useSharedClients } from '../../support/shared-clients.ts';
import { openAll } from '../../support/split.ts';

describe('A failover under clients that share pools', () => {
  const cluster = useOwnCluster();
  const { make } = useSharedClients(cluster);

  it('is seen by all of them, the one that opened the pools or not', async () => {
    const [first, second, third] = [1, 2, 3].map(() => make({ health: quickHealth }));
    if (!first || !second || !third) throw new Error('Three were made.');
    await second.schema.createTable('t', (table) => table.integer('id'));
    await openAll(first);
    const heard: string[] = [];
    for (const [name, db] of Object.entries({ second, third })) {
      rwSplit(db).on('host:role', ({ host, role }) => heard.push(`${name}: ${host} ${role}`));
    }
    await first.destroy();

    await cluster().primary.kill();
    const [replica] = cluster().replicas;
    await replica?.promote();
    const writes = [second, third].map((db) => db('t').insert({ id: 1 }));

    await expect(Promise.all(writes)).resolves.toHaveLength(2);
    for (const db of [second, third]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      await awaitHost(db, 'replica-1', ({ role }) => role === 'primary', machineMillis);
    }
    expect(heard.toSorted()).toEqual(['second: replica-1 primary', 'third: replica-1 primary']);
    expect(await third('t').count().first()).toEqual({ count: '2' });
  });
});

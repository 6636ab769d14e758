import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from 'pg';
import { machineMillis } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { usePlainClients } from '../../support/plain-clients.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { useSplit } from '../../support/split.ts';

const waitMillis = 1000;
const user = { user: 'crowd', password: 'crowd' };

describe('A primary that has no connection left', () => {
  const cluster = useOwnCluster({ replicas: 0, maxConnections: 10 });
  const open = usePlainClients();
  const split = useSplit(cluster, 'eventual');

  beforeAll(async () => {
    // Three connections are kept for superusers.
    const role = `create role crowd login password 'crowd'; grant insert on notes to crowd;`;
    await createRoutingSchema(cluster(), role);
  });

  it('keeps no write waiting for longer than for a primary to come', async () => {
    const { db } = split.cold({
      connection: { ...cluster().connection(), ...user },
      acquireConnectionTimeout: 60_000,
      pool: { max: 5 },
      rwSplit: { replicas: [], failover: { waitMillis } },
    });
    await fill();

    const begin = performance.now();
    const ends = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const outcome = await outcomeOf(db('notes').insert({ rank: 1 }));
        return { outcome, millis: performance.now() - begin };
      }),
    );

    expect(new Set(ends.map(({ outcome }) => outcome))).toEqual(new Set(['53300']));
    const [least, most] = [Math.min, Math.max].map((of) => of(...ends.map(({ millis }) => millis)));
    expect(least).toBeGreaterThan(waitMillis - 10);
    expect(most).toBeLessThan(waitMillis + machineMillis);
  });

  it('serves every write that waits once it has one again', async () => {
    const clients = await fill();
    const { db } = split.cold({
      connection: { ...cluster().connection(), ...user },
      acquireConnectionTimeout: 60_000,
      pool: { max: 2 },
      rwSplit: { replicas: [], failover: { waitMillis: 20_000 } },
    });

    const writing = Promise.all(
      Array.from({ length: 50 }, async () => outcomeOf(db('notes').insert({ rank: 2 }))),
    );
    // The probe of the primary may take one, too.
    await Promise.all(clients.splice(-2).map(async (client) => client.end()));

    expect(new Set(await writing)).toEqual(new Set(['written']));
  });

  /** Takes every connection that is left. */
  async function fill(): Promise<Client[]> {
    const clients: Client[] = [];
    for (;;) {
      try {
        clients.push(await open(cluster().primary, user));
      } catch {
        return clients;
      }
    }
  }
});

async function outcomeOf(write: PromiseLike<unknown>): Promise<string | undefined> {
  return Promise.resolve(write).then(
    () => 'written',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}

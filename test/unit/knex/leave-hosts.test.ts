import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { HostPool } from '../../../lib/hosts/pool.ts';
import type { ClusterWatch } from '../../../lib/knex/cluster-watch.ts';
import { leaveHosts } from '../../../lib/knex/leave-hosts.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('leaveHosts', () => {
  it.each(['present', 'leaving'])(
    'waits for what a client holds on a host that is %s',
    async (at) => {
      const pool = new HostPool<object>(
        {
          create: async () => ({}),
          validate: () => true,
          destroy: () => undefined,
          min: 0,
          max: 1,
          acquireTimeoutMillis: 1000,
        },
        new FakeClock(),
      );
      const held = await pool.acquire().promise;
      const host = { name: 'pg-2', pool };
      const watch = {
        cluster: { hosts: at === 'present' ? [host] : [] },
        leaving: at === 'leaving' ? [host] : [],
        endMillis: () => 5000,
      } as unknown as ClusterWatch;
      let isDone = false;

      const left = leaveHosts(watch, (connection) => connection === held).then(
        () => (isDone = true),
      );
      await turn();
      expect(isDone).toBe(false);
      pool.release(held);

      await left;
      await pool.destroy();
    },
  );
});

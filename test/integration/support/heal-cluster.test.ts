import { describe, expect, it } from '@jest/globals';
import type { Cluster, TestHost } from '../../../lib/testing/index.ts';
import { healCluster } from '../../support/heal-cluster.ts';
import { inLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { setSettings } from '../../support/set-settings.ts';

type Damage = (hosts: readonly [TestHost, TestHost, TestHost]) => unknown;

const damages: readonly (readonly [string, Damage])[] = [
  ['nothing', () => undefined],
  ['all stopped', (hosts) => Promise.all(hosts.map((host) => host.stop()))],
  [
    'settings',
    async ([primary, first]) => {
      await setSettings(primary, { default_transaction_read_only: 'on', work_mem: '8MB' });
      await setSettings(first, { recovery_min_apply_delay: '1h' });
    },
  ],
  ...inLong<readonly [string, Damage]>(
    [
      'a cut replica that was then stopped',
      async ([, first]) => [await first.cutReplication(), await first.stop()],
    ],
    [
      'a failover, and the next one, and everything is down',
      async ([primary, first, second]) => {
        await primary.kill();
        await first.promote();
        await second.rejoin();
        await first.kill();
        await second.promote();
        await second.kill();
      },
    ],
    ['a hung primary and a hung replica', ([primary, , second]) => [primary.hang(), second.hang()]],
    ['paused replay', ([, first]) => first.pauseReplay()],
    ['two primaries', async ([, first]) => [await first.promote()]],
    [
      'a replica that was promoted behind the back',
      ([, first]) => first.query('select pg_promote()'),
    ],
    ['killed hosts', ([primary, first]) => Promise.all([primary.kill(), first.kill()])],
    ['a failover', async ([primary, first]) => [await primary.kill(), await first.promote()]],
  ),
];

describe('healCluster', () => {
  const cluster = useOwnCluster();

  it.each(damages)('mends %s', async (name, damage) => {
    await damage(threeOf(cluster()));

    await healCluster(cluster());

    const [primary, ...replicas] = threeOf(cluster());
    const table = `"after ${name}"`;
    expect(cluster().primary).toBe(primary);
    await primary.query(`create table ${table} as select 1 as one`);
    await cluster().waitForReplay(2000);
    for (const replica of replicas) {
      expect(await replica.query(`select one from ${table}`)).toEqual([{ one: 1 }]);
      expect(await replica.query('select pg_is_in_recovery() as is')).toEqual([{ is: true }]);
      expect(await replica.query('show recovery_min_apply_delay')).toEqual([
        { recovery_min_apply_delay: '0' },
      ]);
    }
    expect(await primary.query('show work_mem')).toEqual([{ work_mem: '4MB' }]);
  });

  it('takes no time where nothing is broken', async () => {
    await healCluster(cluster());
    const start = performance.now();

    await healCluster(cluster());

    expect(performance.now() - start).toBeLessThan(500);
  });
});

function threeOf({ hosts }: Cluster): readonly [TestHost, TestHost, TestHost] {
  const [primary, first, second] = hosts;
  if (!primary || !first || !second) throw new Error('The cluster has fewer than three hosts.');
  return [primary, first, second];
}

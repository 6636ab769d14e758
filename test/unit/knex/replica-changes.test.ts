import { describe, expect, it } from '@jest/globals';
import type { HostSettings } from '../../../lib/config/settings.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import { ReplicaChanges } from '../../../lib/knex/replica-changes.ts';
import { settle } from '../../support/fake-servers.ts';
import {
  answerProbe,
  hostOf,
  hostSettings,
  makeCluster,
  names,
  reportOf,
  takeDown,
} from '../../support/hosts.ts';

interface Bench {
  readonly cluster: Cluster;
  readonly changes: ReplicaChanges;
  /** `host key weight`, of each host that was remade. */
  readonly remade: string[];
  readonly counts: { changes: number };
}

/** A cluster of a primary and the replicas `b` and `c`. */
function bench(): Bench {
  const cluster = makeCluster({ primary: {}, b: {}, c: {} });
  const remade: string[] = [];
  const counts = { changes: 0 };
  const changes = new ReplicaChanges({
    cluster,
    remake: (host, settings) => {
      remade.push(`${host.name} ${settings.key} ${settings.weight}`);
      host.reconfigure(settings);
    },
    onChange: () => counts.changes++,
  });
  return { cluster, changes, remade, counts };
}

function listed(name: string, key: string | undefined = name, weight = 1): HostSettings {
  return { ...hostSettings(name, { weight }), key };
}

describe('ReplicaChanges', () => {
  it('changes nothing when the list is the same', () => {
    const { cluster, changes, counts } = bench();
    const before = cluster.hosts;

    changes.apply([listed('c'), listed('b')]);

    expect(cluster.hosts).toEqual(before);
    expect(counts.changes).toBe(0);
  });

  it('adds a host, which serves once it was found well', () => {
    const { cluster, changes, counts } = bench();

    changes.apply([listed('b'), listed('c'), listed('d')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c', 'd']);
    expect(names(cluster.routable.replicas)).toEqual(['b', 'c']);
    expect(counts.changes).toBe(1);
    answerProbe(cluster, 'd', reportOf('replica'));
    expect(names(cluster.routable.replicas)).toEqual(['b', 'c', 'd']);
  });

  it('takes a host out at once, and closes it when what runs on it has ended', async () => {
    const { cluster, changes } = bench();
    const { pool } = hostOf(cluster, 'b');
    const used = await pool.acquire().promise;

    changes.apply([listed('c')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'c']);
    await settle();
    expect(pool.isUsing(used)).toBe(true);
    pool.release(used);
    await settle();
    expect(pool.stats).toMatchObject({ used: 0, free: 0 });
    await expect(pool.acquire().promise).rejects.toThrow('aborted');
  });

  it('reconfigures a host that stays, and keeps its connections', async () => {
    const { cluster, changes, remade } = bench();
    const { pool } = hostOf(cluster, 'b');
    const idle = await pool.acquire().promise;
    pool.release(idle);

    changes.apply([listed('b', 'b', 5), listed('c')]);

    expect(remade).toEqual(['b b 5', 'c c 1']);
    expect(hostOf(cluster, 'b').weight).toBe(5);
    expect(await pool.acquire().promise).toBe(idle);
  });

  it.each<[string, readonly HostSettings[], readonly string[]]>([
    ['another server under the old name', [listed('b', 'x'), listed('c')], ['primary', 'c', 'b']],
    ['the old server under another name', [listed('x', 'b'), listed('c')], ['primary', 'c', 'x']],
    ['names that were swapped', [listed('b', 'c'), listed('c', 'b')], ['primary', 'b', 'c']],
  ])('begins anew with %s', (_, list, expected) => {
    const { cluster, changes } = bench();
    const before = new Set(cluster.hosts);

    changes.apply(list);

    expect(names(cluster.hosts)).toEqual(expected);
    const kept = list.filter(({ name, key }) => name === key).length;
    expect(cluster.hosts.filter((host) => before.has(host))).toHaveLength(1 + kept);
  });

  it('knows a host by its name where no address is told', () => {
    const { cluster, changes } = bench();
    const b = hostOf(cluster, 'b');

    changes.apply([listed('c'), { ...listed('b'), key: undefined }]);

    expect(cluster.host('b')).toBe(b);
  });

  it('keeps a promoted replica, which is in no list of replicas any more', () => {
    const { cluster, changes } = bench();
    takeDown(cluster, 'primary');
    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));

    changes.apply([listed('c')]);

    expect(names(cluster.routable.primary)).toEqual(['b']);
    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });

  it('keeps a promoted replica also while it is away', () => {
    const { cluster, changes } = bench();
    takeDown(cluster, 'primary');
    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));
    takeDown(cluster, 'b');

    changes.apply([listed('c')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });

  it('lets go of an old primary once there is another', () => {
    const { cluster, changes } = bench();
    answerProbe(cluster, 'b', reportOf('primary'));
    expect(cluster.elected?.name).toBe('primary');

    changes.apply([listed('c')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'c']);
  });

  it('leaves a host drained that was taken out of use by hand', () => {
    const { cluster, changes } = bench();
    cluster.setDraining(hostOf(cluster, 'b'), true);

    changes.apply([listed('b'), listed('c')]);

    expect(names(cluster.routable.replicas)).toEqual(['c']);
  });

  it('never takes the presumed primary out, nor adds it again', () => {
    const { cluster, changes } = bench();

    changes.apply([listed('primary'), listed('b')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'b']);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { HostSettings } from '../../../lib/config/settings.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import type { Host } from '../../../lib/hosts/host.ts';
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
  /** The hosts that were probed before they were let go, in order. */
  readonly checked: string[];
}

/** A cluster of a primary and the replicas `b` and `c`. */
function bench(probe: (host: Host, cluster: Cluster) => void = () => undefined): Bench {
  const cluster = makeCluster({ primary: {}, b: {}, c: {} });
  const remade: string[] = [];
  const counts = { changes: 0 };
  const checked: string[] = [];
  const changes = new ReplicaChanges({
    cluster,
    remake: (host, settings) => {
      remade.push(`${host.name} ${settings.key} ${settings.weight}`);
      host.reconfigure(settings);
    },
    onChange: () => counts.changes++,
    check: async (host) => {
      checked.push(host.name);
      await settle();
      probe(host, cluster);
    },
  });
  return { cluster, changes, remade, counts, checked };
}

function listed(name: string, key: string | undefined = name, weight = 1): HostSettings {
  return { ...hostSettings(name, { weight }), key };
}

describe('ReplicaChanges', () => {
  it('changes nothing when the list is the same', async () => {
    const { cluster, changes, counts } = bench();
    const before = cluster.hosts;

    await changes.apply([listed('c'), listed('b')]);

    expect(cluster.hosts).toEqual(before);
    expect(counts.changes).toBe(0);
  });

  it('adds a host, which serves once it was found well', async () => {
    const { cluster, changes, counts } = bench();

    await changes.apply([listed('b'), listed('c'), listed('d')]);

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

    await changes.apply([listed('c')]);

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

    await changes.apply([listed('b', 'b', 5), listed('c')]);

    expect(remade).toEqual(['b b 5', 'c c 1']);
    expect(hostOf(cluster, 'b').weight).toBe(5);
    expect(await pool.acquire().promise).toBe(idle);
  });

  it.each<[string, readonly HostSettings[], readonly string[]]>([
    ['another server under the old name', [listed('b', 'x'), listed('c')], ['primary', 'c', 'b']],
    ['the old server under another name', [listed('x', 'b'), listed('c')], ['primary', 'c', 'x']],
    ['names that were swapped', [listed('b', 'c'), listed('c', 'b')], ['primary', 'b', 'c']],
  ])('begins anew with %s', async (_, list, expected) => {
    const { cluster, changes } = bench();
    const before = new Set(cluster.hosts);

    await changes.apply(list);

    expect(names(cluster.hosts)).toEqual(expected);
    const kept = list.filter(({ name, key }) => name === key).length;
    expect(cluster.hosts.filter((host) => before.has(host))).toHaveLength(1 + kept);
  });

  it('knows a host by its name where no address is told', async () => {
    const { cluster, changes } = bench();
    const b = hostOf(cluster, 'b');

    await changes.apply([listed('c'), { ...listed('b'), key: undefined }]);

    expect(cluster.host('b')).toBe(b);
  });

  it('keeps a promoted replica, which is in no list of replicas any more', async () => {
    const { cluster, changes } = bench();
    takeDown(cluster, 'primary');
    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));

    await changes.apply([listed('c')]);

    expect(names(cluster.routable.primary)).toEqual(['b']);
    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });

  it('keeps a promoted replica also while it is away', async () => {
    const { cluster, changes } = bench();
    takeDown(cluster, 'primary');
    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));
    takeDown(cluster, 'b');

    await changes.apply([listed('c')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });

  it('asks a host before it lets go of it, and only such a one', async () => {
    const { changes, checked } = bench();

    await changes.apply([listed('c'), listed('d')]);

    expect(checked).toEqual(['b']);
  });

  it('keeps a replica whose promotion the list knew first', async () => {
    const { cluster, changes, checked } = bench(({ name }, probed) => {
      answerProbe(probed, name, reportOf('primary', { timeline: 2 }));
    });

    await changes.apply([listed('c')]);

    expect(checked).toEqual(['b']);
    expect(names(cluster.routable.primary)).toEqual(['b']);
    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });

  it('keeps a replica that proves to be promoted while no primary is known', async () => {
    const { cluster, changes } = bench(({ name }, probed) => {
      answerProbe(probed, name, reportOf('primary', { timeline: 2 }));
    });
    takeDown(cluster, 'primary');

    await changes.apply([listed('c')]);

    expect(names(cluster.routable.primary)).toEqual(['b']);
  });

  it('keeps everyone in use until all that leave were asked', async () => {
    const { cluster, changes } = bench();

    const applied = changes.apply([listed('d')]);
    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
    await applied;

    expect(names(cluster.hosts)).toEqual(['primary', 'd']);
  });

  it('turns those away who wait for a host that leaves', async () => {
    const { cluster, changes } = bench();
    const { pool } = hostOf(cluster, 'b');
    await Promise.all([pool.acquire().promise, pool.acquire().promise]);
    const waiting = Promise.allSettled([pool.acquire().promise]);

    await changes.apply([listed('c')]);

    expect(await waiting).toMatchObject([{ status: 'rejected', reason: { message: 'aborted' } }]);
  });

  it('lets go of an old primary once there is another', async () => {
    const { cluster, changes } = bench();
    answerProbe(cluster, 'b', reportOf('primary'));
    expect(cluster.elected?.name).toBe('primary');

    await changes.apply([listed('c')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'c']);
  });

  it('leaves a host drained that was taken out of use by hand', async () => {
    const { cluster, changes } = bench();
    cluster.setDraining(hostOf(cluster, 'b'), true);

    await changes.apply([listed('b'), listed('c')]);

    expect(names(cluster.routable.replicas)).toEqual(['c']);
  });

  it('never takes the presumed primary out, nor adds it again', async () => {
    const { cluster, changes } = bench();

    await changes.apply([listed('primary'), listed('b')]);

    expect(names(cluster.hosts)).toEqual(['primary', 'b']);
  });

  it('lets nobody go while there is no primary, as any of them may be about to be it', async () => {
    const { cluster, changes } = bench();
    takeDown(cluster, 'primary');
    expect(cluster.elected).toBeUndefined();

    await changes.apply([listed('b')]);
    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);

    answerProbe(cluster, 'c', reportOf('primary', { timeline: 2 }));
    await changes.apply([listed('b')]);
    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });

  it('names those that another host goes by the name of', async () => {
    const { cluster, changes } = bench();
    takeDown(cluster, 'primary');
    answerProbe(cluster, 'c', reportOf('primary', { timeline: 2 }));

    await expect(changes.apply([listed('b'), listed('c', 'elsewhere')])).resolves.toEqual(['c']);
    expect(names(cluster.hosts)).toEqual(['primary', 'b', 'c']);
  });
});

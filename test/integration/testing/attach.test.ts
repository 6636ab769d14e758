import { describe, expect, it } from '@jest/globals';
import { attachCluster, ClusterError, startCluster } from '../../../lib/testing/index.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';

describe('A cluster that runs already', () => {
  const running = useOwnCluster({ replicas: 1 });

  it('is used by startCluster where RWSPLIT_CLUSTER_URL names it', async () => {
    const before = process.env['RWSPLIT_CLUSTER_URL'];
    process.env['RWSPLIT_CLUSTER_URL'] = running().url;

    const cluster = await startCluster({ replicas: 5 });
    if (before === undefined) delete process.env['RWSPLIT_CLUSTER_URL'];
    else process.env['RWSPLIT_CLUSTER_URL'] = before;

    expect(cluster.url).toBe(running().url);
    expect(cluster.hasStatementStatistics).toBe(true);
  });

  it('goes on running when it is stopped here', async () => {
    const cluster = await attachCluster(running().url);

    await cluster.stop();

    await expect(running().primary.query('select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it.each(['kill', 'stop', 'start', 'rejoin'] as const)('cannot be told to %s', async (verb) => {
    const cluster = await attachCluster(running().url);

    await expect(cluster.replicas[0]?.[verb]()).rejects.toThrow(
      `replica-1 was not started here, so ${verb}() cannot reach its processes`,
    );
  });

  it.each(['hang', 'wake'] as const)('cannot be told to %s', async (verb) => {
    const cluster = await attachCluster(running().url);

    expect(() => cluster.replicas[0]?.[verb]()).toThrow(ClusterError);
  });

  it('can be paused and cut', async () => {
    const cluster = await attachCluster(running().url);
    const [replica] = cluster.replicas;
    await replica?.pauseReplay();
    await cluster.primary.query('create table seen (id int)');
    await expect(cluster.waitForReplay(100)).rejects.toThrow('replica-1 has replayed');

    await replica?.resumeReplay();
    await replica?.cutReplication();
    await replica?.restoreReplication();

    await expect(cluster.waitForReplay()).resolves.toBeUndefined();
  });

  it('is refused where its hosts stand in the wrong order', async () => {
    const { primary, replicas, url } = running();
    const [first, second] = [`:${primary.port}`, `:${replicas[0]?.port}`];
    const wrong = url.replace(/:\d+,/, `${second},`).replace(/:\d+\//, `${first}/`);

    await expect(attachCluster(wrong)).rejects.toThrow(/is a (primary|replica): name the one/);
  });

  it('is refused where a host cannot be reached, without a word about the password', async () => {
    const wrong = running().url.replace(/:\d+\//, ':1/');

    const error = await attachCluster(wrong).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({
      message: "The running cluster's replica-1 (127.0.0.1:1) cannot be reached.",
    });
    expect(String(error)).not.toContain(running().password);
  });

  it.each(['mysql://a:b@h/d', 'postgres://h:1,h:2/d', 'postgres://a:b@h:x/d', 'here'])(
    'is refused by a URL of another form: %s',
    async (url) => {
      await expect(attachCluster(url)).rejects.toThrow(/is not of the form/);
    },
  );

  it('can be given another primary', async () => {
    const cluster = await attachCluster(running().url);

    await cluster.replicas[0]?.promote();

    expect(cluster.primary.name).toBe('replica-1');
    await expect(cluster.primary.query('create table led (id int)')).resolves.toEqual([]);
  });
});

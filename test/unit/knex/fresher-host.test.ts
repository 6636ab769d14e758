import { describe, expect, it } from '@jest/globals';
import { InvalidTokenError, StaleReplicasError } from '../../../lib/errors.ts';
import { onReplica, rwSplit } from '../../../lib/index.ts';
import { writeToken } from '../../../lib/consistency/token.ts';
import { hostOf, reportOf } from '../../support/hosts.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

const issue = { systemId: undefined, secret: undefined, now: Date.now() };
const unwritten = writeToken(
  { written: { timeline: 1, lsn: 0x9000n }, seen: undefined, isUncertain: false },
  issue,
);

describe('A read after a token', () => {
  it('fails where the primary has never written what the token tells of', async () => {
    const servers = await make();
    const reading = rwSplit(servers.db).session({ after: unwritten }, async () => servers.db('t'));

    await expect(reading).rejects.toThrow(InvalidTokenError);
    await expect(reading).rejects.toThrow('0/9000');
    expect(servers.split().cluster.hosts.map(({ pool }) => pool.stats.used)).toEqual([0, 0]);
  });

  it('takes such a token for none where that is asked for', async () => {
    const servers = await make();

    await rwSplit(servers.db).session({ after: unwritten, invalidToken: 'ignore' }, async () =>
      servers.db('t'),
    );

    expect(servers.sent().at(-1)).toMatch(/select|WRITTEN/);
  });

  // What is needed after the token is dropped is taken for nothing at all.
  it('sees what its session wrote, whatever the token that is ignored', async () => {
    const servers = await make();

    const { hosts } = await rwSplit(servers.db).session(
      { after: unwritten, invalidToken: 'ignore' },
      async () => {
        await servers.db('t').insert({ a: 1 });
        servers.sent();
        await servers.db('t');
        return { hosts: servers.sent() };
      },
    );

    expect(hosts.filter((line) => line.endsWith('select')).at(-1)).toBe('primary: select');
  });
});

describe('A read that only a replica may serve', () => {
  it('says in time that the replica lacks what its session wrote', async () => {
    const servers = await make({ failover: { waitMillis: 50 } });
    await servers.db('t').insert({ a: 1 });

    await expect(servers.db('t').modify(onReplica)).rejects.toThrow(StaleReplicasError);
  });

  it('is served by the replica that catches up in time', async () => {
    const servers = await make({ failover: { waitMillis: 5000 } });
    await servers.db('t').insert({ a: 1 });
    servers.sent();
    rwSplit(servers.db).on('stale', () => {
      servers.replica.lsn = 0x200n;
    });

    await servers.db('t').modify(onReplica);

    expect(servers.sent()).toEqual(['replica: REPLAYED', 'replica: REPLAYED', 'replica: select']);
  });

  it('asks one of several servers behind a name no more than once', async () => {
    const servers = await make({ failover: { waitMillis: 50 } });
    await servers.db('t').insert({ a: 1 });
    const { cluster } = servers.split();
    const report = reportOf('replica', { server: 'another', position: 0x9999n });
    cluster.noteProbe(hostOf(cluster, 'replica:5432'), report, 0);
    servers.sent();

    await servers.db('t');

    expect(servers.sent()).toEqual(['replica: REPLAYED', 'primary: select']);
  });
});

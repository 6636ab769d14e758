import { describe, expect, it } from '@jest/globals';
import { REPLAYED, REPLAYED_ON } from '../../../lib/consistency/questions.ts';
import { onReplica, rwSplit } from '../../../lib/index.ts';
import { sessionOf } from '../../../lib/knex/session-scope.ts';
import type { FakePositions } from '../../support/fake-positions.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

/** After a write that the replica has, unless told otherwise; probes know of neither. */
async function written(lsn = 0x200n, options: object = {}): Promise<FakePositions> {
  const servers = await make(options);
  await servers.db('t').insert({ a: 1 });
  servers.replica.lsn = lsn;
  servers.sent();
  return servers;
}

function stats({ db }: FakePositions): unknown[] {
  return rwSplit(db)
    .hosts()
    .map(({ consistency }) => consistency);
}

describe('A read of a session on a replica', () => {
  it('asks first, once, whether the replica has what the session wrote', async () => {
    const servers = await written();

    await servers.db('t');
    await servers.db('t');

    expect(servers.sent()).toEqual(['replica: REPLAYED', 'replica: select', 'replica: select']);
    expect(stats(servers)[1]).toMatchObject({ fresh: 1, checked: 1, stale: 0 });
  });

  it('goes on to the primary where the replica is behind', async () => {
    const servers = await written(0x1ffn);
    const stale: string[] = [];
    rwSplit(servers.db).on('stale', ({ host }) => stale.push(host));

    await servers.db('t');

    expect(servers.sent()).toEqual(['replica: REPLAYED', 'primary: select']);
    expect(stale).toEqual(['replica:5432']);
    expect(stats(servers)).toMatchObject([{ forStaleness: 1 }, { checked: 0, stale: 1 }]);
  });

  it('asks for the timeline, too, where that of the server is not known', async () => {
    const servers = await written();
    const { cluster } = servers.split();
    const others = Array.from({ length: 256 }, (_, i) => `another ${i}`);
    for (const server of others) cluster.positions.note(server, 1, 1n);

    await servers.db('t');
    await servers.db('t');

    expect(servers.sent()).toEqual(['replica: REPLAYED_ON', 'replica: select', 'replica: select']);
  });

  it('asks for nothing where the session has written nothing', async () => {
    const servers = await written();

    await rwSplit(servers.db).session({}, async () => servers.db('t'));

    expect(servers.sent()).toEqual(['replica: select']);
    expect(stats(servers)[1]).toMatchObject({ fresh: 0, checked: 0 });
  });

  // Asked one after the other, a check that is not answered is taken for a replica that is behind.
  it('fails as the server said where the connection is lost during the check', async () => {
    const servers = await written(0x200n, { fallback: 'error', failover: { waitMillis: 0 } });
    servers.onRequest = ({ text }) => {
      if (text !== REPLAYED && text !== REPLAYED_ON) return;
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
    };

    await expect(servers.db('t').modify(onReplica)).rejects.toThrow('ECONNRESET');
  });
});

describe('A monotonic session', () => {
  it('holds each read to what the one before it may have seen', async () => {
    const servers = await make({ consistency: { monotonic: true } });
    servers.replica.lsn = 0x180n;

    await servers.db('t');
    expect(servers.sent()).toEqual(['replica: select', 'replica: REPLAYED']);
    await servers.db('t');

    expect(servers.sent()).toEqual(['replica: select', 'replica: REPLAYED']);
    expect(sessionOf(servers.split().state).content).toEqual({
      written: undefined,
      seen: { timeline: 1, lsn: 0x180n },
      isUncertain: false,
    });
  });

  it('reads from the primary where the replica did not say what was seen', async () => {
    const servers = await make({ consistency: { monotonic: true } });
    servers.onRequest = ({ text }) => {
      if (text === REPLAYED) throw Object.assign(new Error('no'), { code: '42501' });
    };

    await servers.db('t');
    servers.sent();
    await servers.db('t');

    expect(servers.sent()).toEqual(['primary: select', 'primary: WRITTEN']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { StaleReplicasError } from '../../../lib/errors.ts';
import { onReplica, rwSplit } from '../../../lib/index.ts';
import { sessionOf } from '../../../lib/knex/session-scope.ts';
import type { FakePositions } from '../../support/fake-positions.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

describe('A read that may not go to the primary, of a session in doubt', () => {
  it('has the primary asked for the position, and is served by a replica', async () => {
    const servers = await make();
    sessionOf(servers.split().state).doubt();

    await servers.db('t').modify(onReplica);

    expect(servers.sent()).toEqual(['primary: WRITTEN', 'replica: select']);
    expect(sessionOf(servers.split().state).isUncertain).toBe(false);
    expect(servers.split().cluster.hosts.map(({ pool }) => pool.stats.used)).toEqual([0, 0]);
  });

  it.each([
    ['in a scope of replicas', {}, 'replica'],
    ['without a fallback', { fallback: 'error' }, undefined],
  ])('is one %s', async (_, options, scope) => {
    const servers = await make(options);
    sessionOf(servers.split().state).doubt();
    const read = async (): Promise<unknown> => servers.db('t');

    await (scope === undefined ? read() : rwSplit(servers.db).onReplica(read));

    expect(servers.sent()[0]).toBe('primary: WRITTEN');
  });

  // The question goes where the target says that everything goes.
  it('is one with replicas as the target', async () => {
    const servers = await make({ target: 'replica' });
    sessionOf(servers.split().state).doubt();

    await servers.db('t');

    expect(servers.sent()[0]).toBe('primary: WRITTEN');
  });

  describe('where the primary does not tell', () => {
    const refusing = async (): Promise<FakePositions> => {
      const servers = await make({ failover: { waitMillis: 20 } });
      sessionOf(servers.split().state).doubt();
      servers.onRequest = ({ host }) => {
        if (host === 'primary') throw Object.assign(new Error('no such'), { code: '42883' });
      };
      return servers;
    };

    it('gives the connection back', async () => {
      const { db, split } = await refusing();

      await db('t')
        .modify(onReplica)
        .catch(() => undefined);

      expect(split().cluster.hosts.map(({ pool }) => pool.stats.used)).toEqual([0, 0]);
    });

    // What fails is the question, of which the application knows nothing.
    it('says that no replica can serve it', async () => {
      const { db } = await refusing();

      await expect(db('t').modify(onReplica)).rejects.toThrow(StaleReplicasError);
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { REPLAYED, REPLAYED_ON } from '../../../lib/consistency/questions.ts';
import { rwSplit } from '../../../lib/index.ts';
import { hostOf, reportOf } from '../../support/hosts.ts';
import type { FakePositions } from '../../support/fake-positions.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

async function readIn({ db, sent }: FakePositions): Promise<string[]> {
  await db('t').insert({ a: 1 });
  sent();
  await db.transaction(async (trx) => trx('t'), { readOnly: true });
  return sent();
}

const onReplica = ['replica: BEGIN', 'replica: select', 'replica: COMMIT;'].map((text) =>
  expect.stringContaining(text),
);
const onPrimary = ['primary: BEGIN', 'primary: select', 'primary: COMMIT;'].map((text) =>
  expect.stringContaining(text),
);

describe('A transaction that reads', () => {
  it('begins on a replica that has what its session wrote, and has said so', async () => {
    const servers = await make();
    servers.replica.lsn = 0x200n;

    expect(await readIn(servers)).toEqual(['replica: REPLAYED', ...onReplica]);
  });

  it('begins on the primary where the replica lacks it', async () => {
    const servers = await make();

    const sent = await readIn(servers);

    // A slow machine may ask again: more time has passed than the replica was thought to take.
    expect(sent[0]).toBe('replica: REPLAYED');
    expect(sent.filter((line) => line !== 'replica: REPLAYED')).toEqual(onPrimary);
    expect(servers.split().cluster.hosts.map(({ pool }) => pool.stats.used)).toEqual([0, 0]);
  });

  // The replica looks fresh by its name, and is asked again and again.
  it('asks one of several servers behind a name no more than once', async () => {
    const servers = await make();
    const { cluster } = servers.split();
    cluster.noteProbe(
      hostOf(cluster, 'replica:5432'),
      reportOf('replica', { server: 'another', position: 0x9999n }),
      0,
    );
    let asked = 0;
    servers.onRequest = ({ text }) => {
      if (text !== REPLAYED && text !== REPLAYED_ON) return;
      if (++asked === 50) servers.replica.lsn = 0x200n;
    };

    await readIn(servers);

    expect(asked).toBe(1);
  });

  it('asks nothing where its session has written nothing', async () => {
    const servers = await make();

    await rwSplit(servers.db).session({}, async () =>
      servers.db.transaction(async (trx) => trx('t'), { readOnly: true }),
    );

    expect(servers.sent()).toEqual(onReplica);
  });
});

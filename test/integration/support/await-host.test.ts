import { describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import { awaitHost, hostStates } from '../../support/await-host.ts';
import { useDatabase } from '../../support/database.ts';
import { useSplit } from '../../support/split.ts';

describe('awaitHost', () => {
  const cluster = useDatabase();
  const split = useSplit(cluster);

  it('waits until a host is as wanted', async () => {
    const { db } = split.cold();

    const waiting = awaitHost(db, 'replica-1', ({ pool }) => pool.free > 0);
    await db.raw('select 1').queryContext({ rwSplit: { host: 'replica-1' } });

    await expect(waiting).resolves.toMatchObject({ name: 'replica-1', pool: { free: 1 } });
  });

  it.each([
    ['replica-2', /not as wanted is .*"name":"replica-2"/],
    ['replica-9', /no host is named "replica-9"; there are .*replica-1, replica-2/],
  ])('says what %s is instead', async (name, message) => {
    const { db } = split.cold();

    await expect(awaitHost(db, name, () => false, 10)).rejects.toThrow(message);
  });
});

describe('hostStates', () => {
  const cluster = useDatabase();
  const split = useSplit(cluster);

  it('shows each host by its name', async () => {
    const { db } = await split.warm();
    await rwSplit(db).drain('replica-1');

    expect(Object.values(hostStates(db))).toEqual(['up', 'draining', 'up']);
    expect(hostStates(db)).toMatchObject({ 'replica-1': 'draining', 'replica-2': 'up' });
  });
});

import { describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

describe('drain()', () => {
  const split = useSplit(useRoutingDatabase(), 'eventual');

  it('waits for what runs on the host, and sends it nothing more', async () => {
    const { db, servers } = await split.warm({ rwSplit: { balancer: 'in-order' } });
    const running = Promise.resolve(db.raw('select pg_sleep(0.2)').then(() => 'answered'));
    await new Promise((resolve) => db.once('query', resolve));
    servers();

    const drained = rwSplit(db).drain('replica-1');
    await db.raw('select 1');

    expect(servers()).toEqual(['replica-2']);
    expect(rwSplit(db).hosts()[1]).toMatchObject({ state: 'draining', inFlight: 1 });
    await expect(drained).resolves.toBe(true);
    expect(rwSplit(db).hosts()[1]).toMatchObject({ inFlight: 0 });
    await expect(running).resolves.toBe('answered');
  });

  it('tells that something still runs when its time is over', async () => {
    const { db } = await split.warm({ rwSplit: { balancer: 'in-order' } });
    const running = Promise.resolve(db.raw('select pg_sleep(0.2)').then(() => 'answered'));
    await new Promise((resolve) => db.once('query', resolve));

    await expect(rwSplit(db).drain('replica-1', { timeoutMillis: 0 })).resolves.toBe(false);
    await running;
  });

  it.each(['drain', 'readmit'] as const)('and readmit() know no other host: %s', async (verb) => {
    const { db } = await split.warm();
    const call = async (): Promise<unknown> => rwSplit(db)[verb]('replica-9');

    await expect(call()).rejects.toThrow('No host is named "replica-9"; there are 127.0.0.1:');
  });
});

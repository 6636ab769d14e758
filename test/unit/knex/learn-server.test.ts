import { afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { createFakeDriver, overDriver } from '../../support/fake-driver.ts';

describe('learnInTime', () => {
  let db: Knex | undefined;
  afterEach(async () => {
    await db?.destroy();
  });

  it.each([
    ['its own', (pid: number) => pid, false],
    ['its own as text, as an application may have it parsed', String, false],
    ['another one', (pid: number) => pid + 1, true],
    ['0, as an engine without processes', () => 0, undefined],
    ['none', () => null, undefined],
  ] as const)('is told by a server that says %s', async (_, processId, isPooled) => {
    const driver = createFakeDriver(({ text, pid }) =>
      text.includes('pg_backend_pid') ? [{ isInRecovery: false, processId: processId(pid) }] : [],
    );
    db = knex({
      client: overDriver(RWSplitClient, driver),
      connection: { host: 'primary' },
      rwSplit: { replicas: [] },
    });

    await db.raw('select 1');

    expect(rwSplit(db).hosts()[0]?.hasPooler).toBe(isPooled);
    expect(driver.requests.map(({ text }) => text.slice(0, 32))).toEqual([
      'select version();',
      'select pg_catalog.pg_is_in_recov',
      'select 1',
    ]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient } from '../../../lib/index.ts';
import { createFakeDriver, overDriver } from '../../support/fake-driver.ts';

describe('hostPoolSettings', () => {
  it('keeps from the pool what Knex before 3.2 leaves among its settings', async () => {
    const driver = createFakeDriver();
    class OlderClient extends overDriver(RWSplitClient, driver) {
      override getPoolSettings(pool: Knex.PoolConfig): Knex.PoolConfig {
        return { ...super.getPoolSettings(pool), afterCreate: () => undefined };
      }
    }
    const db = knex({
      client: OlderClient,
      connection: { host: 'primary' },
      rwSplit: { replicas: [{ host: 'replica' }] },
    });

    await db('t');

    expect(driver.sent()).toEqual(['replica: select * from "t"']);
    await db.destroy();
  });
});

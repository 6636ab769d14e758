import { afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { ConfigError, PoolRegistry, RWSplitClient, type Host } from '../../../lib/index.ts';
import { serverBudgets } from '../../../lib/hosts/server-budgets.ts';
import { createFakeDriver, overDriver } from '../../support/fake-driver.ts';

describe('PoolMaker', () => {
  const client = overDriver(RWSplitClient, createFakeDriver());
  const open: Knex[] = [];

  afterEach(async () => {
    await Promise.all(open.splice(0).map((db) => db.destroy()));
  });

  it('refuses a list with a server that has another number before any of it takes part', async () => {
    const pools = new PoolRegistry();
    const make = (host: string, maxPerServer: number, replicas: () => Promise<Host[]>): Knex => {
      const connection = { host, user: 'u', database: 'd' };
      const db = knex({ client, connection, rwSplit: { pools, maxPerServer, replicas } });
      open.push(db);
      return db;
    };
    const other = make('h3', 5, async () => []);
    const db = make('h1', 6, async () => [{ host: 'h2' }, { host: 'h3' }]);

    await expect(db.raw('select 1')).rejects.toThrow(ConfigError);
    await expect(db.raw('select 1')).rejects.toThrow('give one server one number');
    await Promise.all([db.destroy(), other.destroy()]);

    expect(serverBudgets(pools).size).toBe(0);
  });
});

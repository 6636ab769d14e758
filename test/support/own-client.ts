import type { Knex } from 'knex';
import { RWSplitClient } from '../../lib/index.ts';

interface Sends<C> {
  new (config: Knex.Config): Knex.Client & Sends<C>;
  _query(connection: C, statement: object): Promise<unknown>;
}

/** The client class as applications extend it: Knex's types leave out what they override all the same. */
export function extensibleClient<C>(): new (config: Knex.Config) => Sends<C> {
  return RWSplitClient as unknown as new (config: Knex.Config) => Sends<C>;
}

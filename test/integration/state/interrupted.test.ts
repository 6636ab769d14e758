import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { untilIdle } from '../../support/instances.ts';
import { useSplit } from '../../support/split.ts';
import { outcomeOf } from '../../support/tenant-incidents.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { useTenants } from '../../support/tenants.ts';

const texts = { 'in one batch': 'select 1', 'alone, before it': 'select 1; select 2' };

const interruptions: readonly (readonly [
  name: string,
  outcome: string,
  interrupt: (query: Knex.Raw, kill: () => Promise<unknown>) => PromiseLike<unknown>,
])[] = [
  ['a cancel', 'KnexTimeoutError', (query) => query.timeout(100, { cancel: true })],
  ['a timeout', 'KnexTimeoutError', (query) => query.timeout(100)],
  // A read that was not answered runs again.
  ['a killed session', 'done', async (query, kill) => (await Promise.all([query, kill()]))[0]],
];

describe('A change of state that waits', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 2);
  const splits = useSplit(cluster);

  it.each(
    Object.entries(texts).flatMap(([carriage, text]) =>
      interruptions.map(([name, ...rest]) => [name, carriage, text, ...rest] as const),
    ),
  )('leaves no one’s behind after %s, sent %s', async (_, __, text, outcome, interrupt) => {
    const { db } = splits.cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { replicas: [], consistency: 'eventual' },
      pool: { max: 1 },
    });
    const { primary } = cluster();
    const of = (name: string): Knex => rwSplit(db).withState(tenants.state(name));
    const [one = '', other = ''] = tenants.names;
    const waiting = `from pg_stat_activity where usename = '${tenants.login.user}' and wait_event_type = 'Lock'`;
    const kill = async (): Promise<unknown> =>
      eventually(
        async () => (await primary.query(`select pg_terminate_backend(pid) ${waiting}`)).length > 0,
      );

    await viewQuery(of(one));
    // Only this setting is looked up in a catalog of the database's own.
    const slow = rwSplit(of(other)).withState({
      settings: { default_text_search_config: 'pg_catalog.simple' },
    });
    const lock = primary.query(
      'begin; lock table pg_ts_config in access exclusive mode; select pg_sleep(0.4); commit',
    );
    await eventually(
      async () =>
        (
          await primary.query(`
        select from pg_locks where relation = 'pg_ts_config'::regclass and mode = 'AccessExclusiveLock' and granted`)
        ).length > 0,
    );
    expect(await outcomeOf(interrupt(slow.raw(text), kill))).toBe(outcome);
    await lock;
    await untilIdle(db);

    expect(await viewQuery(of(other))).toEqual([viewOf(other)]);
    expect(await viewQuery(of(one))).toEqual([viewOf(one)]);
  });
});

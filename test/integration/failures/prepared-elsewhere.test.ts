import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useFailover } from '../../support/failover.ts';
import { twice } from '../../support/prepared.ts';
import { untilWritable } from '../../support/until-writable.ts';

const all = (db: Knex): Knex.QueryBuilder => db('items').select();
const rename = (db: Knex, body: string): Knex.QueryBuilder =>
  db('items').where({ id: 1 }).update({ body }, '*');

describe('What was prepared by name', () => {
  const { cluster, hosts, warm } = useFailover();
  const prepare = { max: 10 };

  beforeEach(async () => {
    const { primary } = cluster();
    await primary.query('drop table if exists items');
    await primary.query("create table items as select 1 as id, 'one' as body");
    await cluster().waitForReplay();
  });

  /** The texts that the one connection to a host has by name. */
  const namesOn = async (db: Knex, host: string): Promise<readonly string[]> => {
    const { rows } = await db
      .raw(`select statement from pg_prepared_statements where statement like '%items%' -- ${host}`)
      .queryContext({ rwSplit: { host } });
    return rows.map(({ statement }: { statement: string }) => statement);
  };

  it('is prepared on the host that a read moves to', async () => {
    const [, second, third] = hosts();
    const { db, servers } = await warm({ pool: { max: 1 }, rwSplit: { prepare } });
    // Its name is looked up now, and not where the look-up could meet the server that is killed.
    await db('items').count();
    await db('items')
      .where({ id: 1 })
      .queryContext({ rwSplit: { host: third.name } });
    await twice(() => all(db).queryContext({ rwSplit: { host: second.name } }));
    servers();
    await second.kill();

    const reads = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other.
    for (let turn = 0; turn < 4; turn++) reads.push(await all(db));

    expect(reads).toEqual(Array.from({ length: 4 }, () => [{ id: 1, body: 'one' }]));
    expect(await namesOn(db, third.name)).toEqual(['select * from "items"']);
  });

  it('is prepared on a new primary', async () => {
    const [first, second] = hosts();
    const { db } = await warm({ pool: { max: 1 }, rwSplit: { prepare } });
    await twice(() => rename(db, 'two'));
    await cluster().waitForReplay();
    await first.kill();
    const promotion = second.promote();
    await untilWritable(second);
    await promotion;

    expect(await twice(() => rename(db, 'three'))).toEqual([{ id: 1, body: 'three' }]);
    expect(await namesOn(db, second.name)).toEqual([expect.stringMatching(/^update "items"/)]);
  });

  it('is no misroute where a replica refuses its plan', async () => {
    const [, second] = hosts();
    const { db, servers } = await warm({ pool: { max: 1 }, rwSplit: { prepare } });
    const told: string[] = [];
    for (const name of ['misroute', 'retry'] as const) rwSplit(db).on(name, () => told.push(name));
    const read = (): Knex.QueryBuilder => all(db).queryContext({ rwSplit: { host: second.name } });
    await twice(read);
    await cluster().primary.query('alter table items add more int');
    await cluster().waitForReplay();
    servers();

    expect(await twice(read)).toEqual([{ id: 1, body: 'one', more: null }]);
    expect(told).toEqual([]);
    expect(servers()).toEqual([second.name, second.name]);
  });

  it('is seen by its session though it was sent again', async () => {
    const replicas = cluster().replicas;
    const { db } = await warm({ pool: { max: 1 }, rwSplit: { prepare, consistency: 'session' } });
    await twice(() => rename(db, 'two'));
    await cluster().primary.query('alter table items add more int');
    await cluster().waitForReplay();
    await rwSplit(db).checkNow();
    await Promise.all(replicas.map((replica) => replica.pauseReplay()));

    const written = await rename(db, 'three');
    const seen = await all(db);
    await Promise.all(replicas.map((replica) => replica.resumeReplay()));

    expect(written).toEqual([{ id: 1, body: 'three', more: null }]);
    expect(seen).toEqual(written);
  });
});

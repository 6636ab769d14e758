import { beforeAll, describe, expect, it } from '@jest/globals';
import type { TestHost } from '../../../lib/testing/index.ts';
import { useDatabase } from '../../support/database.ts';
import { intentsOn } from './intents-on.ts';

const cluster = useDatabase();

const schema = `
  create schema shop;
  create table t (a int, b text);
  create unlogged table u (a int);
  create sequence sq;
  create materialized view mv as select random() as a;
  create table parted (a int) partition by list (a);
  create extension postgres_fdw;
  create server elsewhere foreign data wrapper postgres_fdw;
  create foreign table far (a int) server elsewhere;
  create unlogged table parted_1 partition of parted for values in (1);

  create function shop.reads(int) returns int language sql stable as 'select 1';
  create function shop.numbered(a bigint default nextval('sq')) returns int language sql stable as 'select 1';
  create function shop.usual(a int default 1) returns int language sql stable as 'select 1';
  create function shop.writes(int) returns int language sql volatile as 'select 1';
  create function twice(int) returns int language sql immutable as 'select 1';
  create function twice(text) returns int language sql volatile as 'select 1';
  create function lower(t) returns text language sql volatile as 'select 1::text';
  create function upper(t) returns text language sql stable as 'select 1::text';
  create function total(t) returns int language sql volatile as 'select 1';
  create function label(t) returns int language sql stable as 'select 1';
  create function step(int, int) returns int language sql volatile as 'select 1';
  create aggregate unsafe_sum(int) (sfunc = step, stype = int);
  create function unstep(int, int) returns int language sql volatile strict as 'select 1';
  create aggregate moving_sum(int) (sfunc = int4pl, stype = int, msfunc = int4pl, minvfunc = unstep, mstype = int);
  create aggregate safe_sum(int) (sfunc = int4pl, stype = int);
  create function dash(text, text) returns text language sql volatile as 'select $1';
  create operator ~-~ (leftarg = text, rightarg = text, function = dash);
  create function plus(text, text) returns text language sql immutable as 'select $1';
  create operator ~+~ (leftarg = text, rightarg = text, function = plus);
  create type money_bag as (a int);
  create function to_bag(text) returns money_bag language sql volatile as 'select row(1)::money_bag';
  create cast (text as money_bag) with function to_bag(text);
  create type plain_bag as (a int);

  create view v_plain as select a, now(), random(), count(*) over () from t;
  create view v_unlogged as select * from u;
  create view v_nested as select * from v_unlogged;
  create view v_nextval as select nextval('sq');
  create view v_notify as select pg_notify('a', 'b')::text;
  create view v_locks as select pg_try_advisory_lock(1);
  create view v_statistics as select * from pg_stat_activity;
  create view v_volatile as select shop.writes(1);
  create view v_matview as select * from mv;
  create procedure p() language sql as 'select 1';
`;

beforeAll(async () => {
  await cluster().primary.query(schema);
  await cluster().waitForReplay();
});

describe('Intents, asking the catalog of a real replica', () => {
  it.each([
    ['select * from t', 'only reads'],
    ['select * from public.t', 'only reads'],
    ['select * from missing', 'only reads'],
    ['select * from mv', 'only reads'],
    ['select * from far', 'only reads'],
    ['select * from v_plain', 'only reads'],
    ['select * from v_matview', 'only reads'],
    ['select shop.reads(1), shop.usual(), b, safe_sum(a) from t', 'only reads'],
    [
      "select count(*), sum(a), now(), random(), upper('x'), pg_catalog.lower('X') from t",
      'only reads',
    ],
    ["select 'a' ~+~ 'b', a = 1, b || 'x', t.a, t.label from t", 'only reads'],
    ["select 'a'::text, 1::numeric(10, 2), 'x'::plain_bag, b::varchar from t", 'only reads'],
    ['select * from information_schema.columns', 'only reads'],
    ['select * from pg_class', 'only reads'],
    ['with u2 as (select 1) select * from u2', 'only reads'],
  ])('proves a read: %s', async (sql, reason) => {
    const verdict = await intentsOn(replica()).resolve(sql);

    expect(verdict).toEqual({ intent: 'read', proved: true, reason, changesCatalog: false });
  });

  it.each([
    ['select * from u', 'reads the unlogged table u'],
    ['select 1 where exists (select 1 from public.u)', 'reads the unlogged table u'],
    ['select last_value from sq', 'reads the sequence sq'],
    ['select * from parted', 'reads the unlogged table parted_1'],
    ['select * from v_unlogged', 'reads the unlogged table u'],
    ['select * from v_nested', 'reads the unlogged table u'],
    [
      'select * from v_nextval',
      'calls the volatile function pg_catalog.nextval in the view v_nextval',
    ],
    [
      'select * from v_notify',
      'calls the volatile function pg_catalog.pg_notify in the view v_notify',
    ],
    [
      'select * from v_locks',
      'calls the volatile function pg_catalog.pg_try_advisory_lock in the view v_locks',
    ],
    [
      'select * from v_statistics',
      'calls the volatile function pg_catalog.pg_stat_get_activity in the view pg_stat_activity',
    ],
    ['select * from v_volatile', 'calls the volatile function shop.writes in the view v_volatile'],
    ['select shop.writes(1)', 'calls the volatile function shop.writes'],
    [
      'select shop.numbered()',
      'calls the volatile function pg_catalog.nextval for an argument of numbered',
    ],
    ['explain select shop.writes(1)', 'calls the volatile function shop.writes'],
    ['select twice(1)', 'calls the volatile function public.twice'],
    ["select lower('X')", 'calls the volatile function public.lower'],
    ['select unsafe_sum(a) from t', 'calls the volatile function public.unsafe_sum'],
    ['select moving_sum(a) over () from t', 'calls the volatile function public.moving_sum'],
    ["select 'a' ~-~ 'b'", 'uses an operator that runs the volatile function public.dash'],
    [
      "select 'a' operator(public.~-~) 'b'",
      'uses an operator that runs the volatile function public.dash',
    ],
    [
      "select 'a' ~-~ any (select b from t)",
      'uses an operator that runs the volatile function public.dash',
    ],
    ['select t.total from t', 'calls the volatile function public.total'],
    ['select (t).total from t', 'calls the volatile function public.total'],
    ['select x.total from (select t from t) q(x)', 'calls the volatile function public.total'],
    ["select 'x'::money_bag", 'casts by the volatile function public.to_bag'],
    ["select money_bag 'x'", 'casts by the volatile function public.to_bag'],
    ['select missing(1)', 'unknown function missing'],
    ['select writes(1)', 'unknown function writes'],
  ])('sends to the primary: %s (%s)', async (sql, reason) => {
    const verdict = await intentsOn(replica()).resolve(sql);

    expect(verdict).toEqual({ intent: 'write', proved: false, reason, changesCatalog: false });
  });

  it('learns of a changed function once it is told of DDL', async () => {
    const intents = intentsOn(cluster().primary);
    await cluster().primary.query(
      "create function later() returns int language sql stable as 'select 1'",
    );

    const before = await intents.resolve('select later()');
    await cluster().primary.query('alter function later() volatile');
    const stale = await intents.resolve('select later()');
    intents.forget();
    const after = await intents.resolve('select later()');

    expect([before, stale, after].map(({ intent }) => intent)).toEqual(['read', 'read', 'write']);
  });
});

function replica(): TestHost {
  const [host] = cluster().replicas;
  if (host === undefined) throw new Error('These tests need a replica.');
  return host;
}

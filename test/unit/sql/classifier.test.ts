import { beforeAll, describe, expect, it } from '@jest/globals';
import { classify } from '../../../lib/sql/classifier.ts';
import { FunctionLists } from '../../../lib/sql/function-lists.ts';
import { loadParser } from '../../../lib/sql/parser.ts';
import type { Intent, LockUse } from '../../../lib/sql/verdict.ts';
import { disguises, reads, statements } from './statements.ts';

beforeAll(loadParser);

describe('classify', () => {
  for (const [rule, rows] of Object.entries(statements)) {
    it.each(rows)(`${rule}: %s → %s (%s)`, (sql, intent) => {
      expect([sql, classify(sql).verdict.intent]).toEqual([sql, intent]);
    });
  }

  it.each(reads)('reads, whatever it looks like: %s', (sql) => {
    expect(classify(sql).verdict).toMatchObject({ intent: 'read', proved: true });
  });

  it.each(disguises)('writes, whatever it looks like: %s', (sql) => {
    expect(classify(sql).verdict.intent).not.toBe('read');
  });

  it.each<[string, boolean]>([
    ['insert into t values (1)', true],
    ['with x as (delete from t returning a) select * from x', true],
    ['select a from t for share', true],
    ['select a into copy from t', true],
    ["select nextval('sq')", true],
    ['select pg_current_wal_lsn()', true],
    ['create table x (a int)', true],
    ['lock table t', true],
    ['merge into t using s on a = b when matched then delete', true],
    ['explain analyze insert into t values (1)', true],
    ["copy (select nextval('sq')) to stdout", true],
    ['set search_path to shop', true],
    ['explain insert into t values (1)', false],
    ['merge into t using s on a = b when matched then do nothing', false],
    ['lock table t in access share mode', false],
    ['select pg_advisory_lock(1)', false],
    ['select pg_stat_reset()', false],
    ['show search_path', false],
    ['copy t to stdout', false],
    ['call p()', false],
    ['do $$begin end$$', false],
    ['checkpoint', false],
    ['select * from pg_stat_activity', false],
    ['selekt 1', false],
    ['', false],
  ])('proves a write only where a replica refuses it: %s → %s', (sql, proved) => {
    expect(classify(sql).verdict.proved).toBe(proved);
  });

  it.each<[string, string | undefined]>([
    ['set search_path to shop', 'SET search_path'],
    ["set transaction_timeout = '9s'", 'SET transaction_timeout'],
    ['reset transaction_timeout', 'RESET transaction_timeout'],
    ["set time zone 'UTC'", 'SET timezone'],
    ['set role app', 'SET role'],
    ['set session authorization app', 'SET session_authorization'],
    ['set session characteristics as transaction read only', 'SET SESSION CHARACTERISTICS'],
    ['reset search_path', 'RESET search_path'],
    ['reset all', 'RESET ALL'],
    ['discard all', 'DISCARD'],
    ['listen news', 'LISTEN'],
    ['unlisten *', 'UNLISTEN'],
    ["load 'auto_explain'", 'LOAD'],
    ['prepare q as select 1', 'PREPARE'],
    ['execute q', 'EXECUTE'],
    ['deallocate all', 'DEALLOCATE'],
    ['declare c cursor with hold for select 1', 'DECLARE WITH HOLD'],
    ['create temp table x (a int)', 'temporary table'],
    ['create table pg_temp.x (a int)', 'temporary table'],
    ['create temp table x as select 1', 'temporary table'],
    ['select 1 into temp x', 'temporary table'],
    ['select 1 into pg_temp.x', 'temporary table'],
    ['select 1 into pg_temp_3.x', 'temporary table'],
    ['create temp view v as select 1', 'temporary view'],
    ['create or replace temporary view v as select 1', 'temporary view'],
    ['create temp sequence s', 'temporary sequence'],
    ["create function pg_temp.f() returns int language sql as 'select 1'", 'temporary object'],
    ["create type pg_temp.e as enum ('a')", 'temporary object'],
    ['create domain pg_temp.d as int', 'temporary object'],
    ["update pg_settings set setting = '1' where name = 'work_mem'", 'UPDATE pg_settings'],
    ["select set_config('a.b', 'c', false)", 'set_config'],
    ["select set_config('a.b', 'c', $1)", 'set_config'],
    ["select set_config(is_local => false, setting_name => 'a.b', new_value => 'c')", 'set_config'],
    ['begin; set search_path to shop; commit', 'SET search_path'],
    ["insert into t select set_config('a.b', 'c', false)", 'set_config'],
    ["explain analyze select set_config('a.b', 'c', false)", 'set_config'],
    ["alter table t add column a text default set_config('a.b', 'c', false)", 'set_config'],
    ["alter table t alter column a type text using set_config('a.b', 'c', false)", 'set_config'],
    ["alter table t add check (set_config('a.b', 'c', false) is not null)", 'set_config'],
    ["alter domain d add check (set_config('a.b', value, false) is not null)", 'set_config'],
    ["create table x partition of t for values in (set_config('a.b', 'c', false))", 'set_config'],
    ["create table x as select set_config('a.b', 'c', false)", 'set_config'],
    ["create materialized view x as select set_config('a.b', 'c', false)", 'set_config'],
    ['select U&"set\\005fconfig"($1, $2, false)', 'set_config'],
    [`select U&"set!005fconfig" uescape '!' ($1, $2, false)`, 'set_config'],
    ["alter table t add column a text default set_config('a.b', 'c', true)", undefined],
    ["explain select set_config('a.b', 'c', false)", undefined],
    ["select set_config('a.b', 'c', true)", undefined],
    ["select set_config(is_local => true, setting_name => 'a.b', new_value => 'c')", undefined],
    ['set local search_path to shop', undefined],
    ['set transaction read only', undefined],
    ['set transaction_read_only = off', undefined],
    ['set "Transaction_Isolation" = serializable', undefined],
    ['set transaction_deferrable = on', undefined],
    ["set transaction snapshot '1-1'", undefined],
    ['create table x (a int)', undefined],
    ['alter role app set search_path to shop', undefined],
    [
      "create function f() returns int language sql set search_path to shop as 'select 1'",
      undefined,
    ],
    ['select 1', undefined],
  ])('tells what a text leaves behind in its session: %s → %s', (sql, change) => {
    const { sessionChange, intent } = classify(sql).verdict;

    expect(sessionChange).toBe(change);
    expect(intent === 'session').toBe(change !== undefined);
  });

  it.each<[string, true | undefined]>([
    ['set local search_path to pg_temp', true],
    ['set local "Search_Path" to app, PG_TEMP', true],
    ["set local schema 'pg_temp_3'", true],
    ["select set_config('search_path', 'pg_temp, app', true)", true],
    ["select set_config('SEARCH_PATH', 'Pg_Temp', true)", true],
    ["select set_config('search_path', $1, true)", true],
    ["select set_config('search_path', concat('pg_te', 'mp'), true)", true],
    ["select set_config($1, 'pg_temp', true)", true],
    ["select set_config(is_local => true, new_value => $1, setting_name => 'search_path')", true],
    ["insert into t select set_config('search_path', a, true) from t", true],
    ["explain analyze select set_config('search_path', $1, true)", true],
    ['set local search_path to pg_temp; create table x (a int)', true],
    ['set local search_path to shop', undefined],
    ['set local search_path to default', undefined],
    ["set local app.tenant to 'pg_temp'", undefined],
    ["select set_config('search_path', 'shop', true)", undefined],
    ["select set_config('app.tenant', $1, true)", undefined],
    ["select set_config($1, 'shop', true)", undefined],
    ["explain select set_config('search_path', $1, true)", undefined],
  ])('tells whether tables may be temporary after a text: %s → %s', (sql, isSo) => {
    expect(classify(sql).verdict.mayMakeTemporary).toBe(isSo);
  });

  it.each<[string, string | undefined]>([
    ['begin', 'BEGIN'],
    ['start transaction read only', 'START TRANSACTION'],
    ['savepoint a', 'SAVEPOINT'],
    ['begin; select 1', 'BEGIN'],
    ['commit; begin', 'BEGIN'],
    ['begin; select 1; commit and chain', 'COMMIT AND CHAIN'],
    ['savepoint a; savepoint b; release b', 'SAVEPOINT'],
    ['begin; select 1; commit', undefined],
    ['begin; savepoint a; rollback to a; rollback', undefined],
    ['savepoint a; savepoint b; release a', undefined],
    ["begin; insert into t values (1); prepare transaction 'x'", undefined],
    ['commit', undefined],
    ['select 1', undefined],
  ])('tells whether a text leaves a transaction open: %s → %s', (sql, opened) => {
    const { opensTransaction, intent } = classify(sql).verdict;

    expect(opensTransaction).toBe(opened);
    expect(intent === 'session').toBe(opened !== undefined);
  });

  it.each<[string, LockUse | undefined]>([
    ['select pg_advisory_lock(1)', 'lock'],
    ['select pg_advisory_lock_shared(1)', 'lock'],
    ['select pg_try_advisory_lock(1, 2)', 'lock'],
    ['select pg_catalog.pg_try_advisory_lock_shared(1)', 'lock'],
    ['select pg_advisory_unlock(1)', 'unlock'],
    ['select pg_advisory_unlock_shared(1)', 'unlock'],
    ['select pg_advisory_unlock_all()', 'unlock-all'],
    ['insert into t select pg_advisory_lock(1)', 'lock'],
    ['with x as (insert into t values (1) returning pg_advisory_lock(1)) table x', 'lock'],
    ['select pg_advisory_unlock(1), pg_advisory_lock(2)', 'lock'],
    ['select pg_advisory_lock(2), pg_advisory_unlock(1)', 'lock'],
    ['select pg_advisory_xact_lock(1)', undefined],
    ['select pg_try_advisory_xact_lock_shared(1)', undefined],
    ['select shop.pg_advisory_lock(1)', undefined],
  ])('tells what a text does to session locks: %s → %s', (sql, use) => {
    expect(classify(sql).verdict.lockUse).toBe(use);
  });

  it.each<[string, boolean]>([
    ['create table x (a int)', true],
    ['alter table x add b int', true],
    ['drop function f', true],
    ['do $$begin end$$', true],
    ['call p()', false],
    ['select 1 into x', true],
    ['selekt 1', true],
    ['select 1 selekt 2 3', false],
    [`select '${'x'.repeat(33_000)}'`, false],
    [`create table x (a int) -- ${'x'.repeat(33_000)}`, true],
    ['insert into t values (1)', false],
    ['explain create table x as select 1', false],
    ['select 1', false],
  ])('tells whether a text may change the catalog: %s → %s', (sql, changes) => {
    expect(classify(sql).verdict.changesCatalog).toBe(changes);
  });

  it.each<[string, string]>([
    ['select a from t for update', 'locks rows'],
    ["select nextval('sq')", 'calls nextval'],
    ['explain delete from t', 'explains a statement that modifies data: DELETE'],
    ['select 1', 'only reads'],
  ])('gives a reason that a person can read: %s → %s', (sql, reason) => {
    expect(classify(sql).verdict.reason).toBe(reason);
  });

  it('lists the names that only the catalog can judge', () => {
    const { lookups } = classify(
      'select shop.total(o.a), lower(o.b)::mood, o.size, (o).weight from shop.orders o where a <=> b and a operator(shop.<) b',
    );

    expect(lookups.functions).toContainEqual({ schema: 'shop', name: 'total' });
    expect(lookups.functions).toContainEqual({ schema: undefined, name: 'lower' });
    expect(lookups.relations).toEqual([{ schema: 'shop', name: 'orders' }]);
    expect(lookups.operators).toContainEqual({ schema: undefined, name: '<=>' });
    expect(lookups.operators).toContainEqual({ schema: 'shop', name: '<' });
    expect(lookups.types).toEqual(['mood']);
    expect(new Set(lookups.columns)).toEqual(new Set(['a', 'b', 'size']));
    expect(lookups.fields).toEqual(['weight']);
  });

  it.each<[string, readonly string[]]>([
    ['select a in (select 1)', ['=']],
    ['select a not in (select 1)', ['=']],
    ['select case a when 1 then 2 end', ['=']],
    ['select * from t join u using (a)', ['=']],
    ['select * from t natural join u', ['=']],
    ['select nullif(a, 1), a in (1, 2), a is distinct from 1', ['=']],
    ['select a between 1 and 2', ['<', '<=', '>', '>=']],
    ['select a <% any (select 1)', ['<%']],
    ['select exists (select 1), array(select 1), (select 1)', []],
    ['select case when true then 2 end from t cross join u', []],
  ])('sees the operators that a text does not write: %s', (sql, operators) => {
    expect(classify(sql).lookups.operators.map(({ name }) => name)).toEqual(operators);
  });

  it.each<[string, readonly string[]]>([
    ['select t.a from t', []],
    ['select (t).a from t', ['a']],
    ['select f.a from f() as f', ['a']],
    ['explain select f.a from rows from (f()) as f', ['a']],
  ])('sees the columns that may be functions of any value: %s', (sql, fields) => {
    expect(classify(sql).lookups.fields).toEqual(fields);
  });

  it.each<[string, Intent]>([
    ["select ('sq'::regclass).nextval", 'write'],
    ['select (1::bigint).pg_advisory_lock', 'write'],
    ['select g.pg_advisory_lock from generate_series(1::bigint, 2) g', 'write'],
    ['select g.abs from generate_series(1, 2) g', 'read'],
    ['select 1 operator(pg_temp.=) 2', 'write'],
  ])('sees a call that does not look like one: %s → %s', (sql, intent) => {
    expect(classify(sql).verdict.intent).toBe(intent);
  });

  it('sees a lock that looks like a column', () => {
    expect(classify('select (1::bigint).pg_advisory_lock').verdict.lockUse).toBe('lock');
  });

  it.each<[string, Intent]>([
    ['select total(1)', 'write'],
    ['select shop.total(1)', 'write'],
    ['select other.total(1)', 'read'],
    ['select cheap(1)', 'read'],
    ['select current_setting($1)', 'read'],
    ["select set_config('a', 'b', false)", 'session'],
    ['select both()', 'write'],
  ])('believes the lists of the user: %s → %s', (sql, intent) => {
    const lists = new FunctionLists({
      read: ['cheap', 'current_setting', 'set_config', 'both'],
      write: ['shop.total', 'both'],
    });

    expect(classify(sql, lists).verdict.intent).toBe(intent);
  });
});

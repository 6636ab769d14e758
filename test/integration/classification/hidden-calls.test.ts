import { beforeAll, describe, expect, it } from '@jest/globals';
import type { FunctionOptions } from '../../../lib/sql/intents.ts';
import { useDatabase } from '../../support/database.ts';
import { intentsOn } from './intents-on.ts';

const cluster = useDatabase();

const schema = `
  create schema other;
  create table t (id int, a int);
  create sequence sq;
  create function vol(int) returns int language sql volatile as 'select 1';
  create function truly(int) returns boolean language sql volatile as 'select true';
  create function stable_f(int) returns int language sql stable as 'select 1';
  create function differs(int, int) returns boolean language sql volatile as 'select true';
  create operator ### (leftarg = int, rightarg = int, function = differs);

  create function by_default(a int default vol(1)) returns int language sql stable as 'select 1';
  create function by_operator(a boolean default 1 ### 2) returns int language sql stable as 'select 1';
  create function twice_removed(a int default by_default()) returns int language sql stable as 'select 1';
  create view v_default as select by_default();
  create view v_operator as select id from t where id ### 1;
  create view v_using as select id from t group by id having max(a) ### 1;
  create view v_locks as select * from t for update;
  create view v_subquery as select * from (select * from t for share) as s;
  create view v_stable as select stable_f(1);
  create view v_over_view as select * from v_stable;
  create view v_vol as select vol(1);

  create table guarded (id int);
  alter table guarded enable row level security;
  create policy p on guarded using (truly(id));
  create table guarded_notes (id int);
  alter table guarded_notes enable row level security;
  create policy p on guarded_notes for insert with check (truly(id));
  create policy q on guarded_notes for delete using (truly(id));
  create table guarded_ids (id int);
  alter table guarded_ids enable row level security;
  create policy p on guarded_ids using (pg_try_advisory_lock(id));
  create table guarded_by_view (id int);
  alter table guarded_by_view enable row level security;
  create policy p on guarded_by_view using (exists (select from v_locks));
  create table unguarded (id int);
  create policy p on unguarded using (truly(id));
  create view v_guarded as select * from guarded;

  create domain checked as int check (truly(value));
  create domain compared as int check (value ### 1);
  create domain over_checked as checked;
  create domain plain as int check (value > 0);
  create domain numbered as bigint default nextval('sq');
  create type with_checked as (c checked);
  create table of_checked (c over_checked);
  create view v_checked as select id::over_checked from t;
  create function takes_checked(checked) returns int language sql stable as 'select 1';

  create domain row_of_t as t;
  create function many(variadic t[]) returns int language sql volatile as 'select 1';
  create function of_domain(row_of_t) returns int language sql volatile as 'select 1';
  create function other.elsewhere(t) returns int language sql volatile as 'select 1';
  create function tf(t) returns int language sql stable as 'select 1';

  create type bag as (a int, b int);
  create type sack as (a int, b int);
  create function bag_text(bag) returns text language sql as 'select 1::text';
  create cast (bag as text) with function bag_text(bag);
  create function bag_of(int) returns bag language sql stable as 'select row(1, 2)::bag';
  create table bags (id int, content bag);
  create table many_bags (content bag[]);
  create view v_bags as select * from bags;
  create function sack_of(int) returns sack language sql volatile as 'select row(1, 2)::sack';
  create cast (int as sack) with function sack_of(int) as implicit;
  create function joins(sack, sack) returns boolean language sql stable as 'select true';
  create operator ~~~~ (leftarg = sack, rightarg = sack, function = joins);
  create operator < (leftarg = sack, rightarg = sack, function = joins);
  create function takes_sack(sack) returns int language sql stable as 'select 1';

  create function same(bag, bag) returns boolean language sql volatile as 'select true';
  create operator other.= (leftarg = bag, rightarg = bag, function = same);
`;

beforeAll(async () => {
  await cluster().primary.query(schema);
  await cluster().waitForReplay();
});

const reasonOf = async (sql: string, functions: FunctionOptions = {}): Promise<string> => {
  const { reason } = await intentsOn(cluster().primary, functions).resolve(sql);
  return reason;
};

const reads = 'only reads';
const truly = (via: string): string => `calls the volatile function public.truly in ${via}`;
const checks = 'checks a domain by the volatile function public.truly';

describe('Intents, on functions that are called without a word', () => {
  it.each([
    ['select by_default()', 'calls the volatile function public.vol for an argument of by_default'],
    [
      'select by_operator()',
      'calls the volatile function public.differs for an argument of by_operator',
    ],
    [
      'select twice_removed()',
      'calls the volatile function public.vol for an argument of by_default',
    ],
    [
      'select * from v_default',
      'calls the volatile function public.vol for an argument of by_default',
    ],
    [
      'select * from v_operator',
      'calls the volatile function public.differs in the view v_operator',
    ],
    ['select * from v_using', 'calls the volatile function public.differs in the view v_using'],
    ['select * from v_locks', 'locks rows in the view v_locks'],
    ['select * from v_subquery', 'locks rows in the view v_subquery'],
    ['select * from v_over_view', reads],
  ])('follows views and default arguments: %s (%s)', async (sql, reason) => {
    expect(await reasonOf(sql)).toBe(reason);
  });

  it.each([
    ['select * from guarded', truly('a policy of guarded')],
    ['select * from v_guarded', truly('a policy of guarded')],
    [
      'select * from guarded_ids',
      'calls the volatile function pg_catalog.pg_try_advisory_lock in a policy of guarded_ids',
    ],
    ['select * from guarded_by_view', 'locks rows in the view v_locks'],
    ['select * from guarded_notes', reads],
    ['select * from unguarded', reads],
  ])('follows the policies of rows: %s (%s)', async (sql, reason) => {
    expect(await reasonOf(sql)).toBe(reason);
  });

  it.each([
    ['select 1::checked', checks],
    ['select 1::over_checked', checks],
    ["select json_value('1', '$' returning checked)", checks],
    ["select * from json_to_record('{}') as x (c checked)", checks],
    ['select row(1)::with_checked', checks],
    ["select json_populate_record(null::of_checked, '{}')", checks],
    ['select 1::compared', 'checks a domain by the volatile function public.differs'],
    ['select * from v_checked', truly('a check of checked')],
    ['select takes_checked(1)', truly('a check of checked')],
    ['select 1::plain', reads],
    ['select 1::numbered', reads],
    ['select c from of_checked', reads],
  ])('follows the checks of domains: %s (%s)', async (sql, reason) => {
    expect(await reasonOf(sql)).toBe(reason);
  });

  it.each([
    ['select t.many from t', 'calls the volatile function public.many'],
    ['select (row(1, 1)::row_of_t).of_domain', 'calls the volatile function public.of_domain'],
    ['select d.of_domain from t as d', 'calls the volatile function public.of_domain'],
    ['select (1).vol', 'calls the volatile function public.vol'],
    ['select g.vol from generate_series(1, 2) g', 'calls the volatile function public.vol'],
    ['select t.vol from t', reads],
    ['select t.elsewhere from t', reads],
    ['select t.tf from t', reads],
  ])('follows functions that look like columns: %s (%s)', async (sql, reason) => {
    expect(await reasonOf(sql)).toBe(reason);
  });

  it.each([
    ['select content::text from bags', 'casts by the volatile function public.bag_text'],
    ['select content::text from v_bags', 'casts by the volatile function public.bag_text'],
    ['select content[1]::text from many_bags', 'casts by the volatile function public.bag_text'],
    ['select bag_of(1)::text', 'casts by the volatile function public.bag_text'],
    ['select row(1, 2)::bag::text', 'casts by the volatile function public.bag_text'],
    ['select 1::text, id::text from t', reads],
    ['select content::bag from bags', reads],
    ['select takes_sack(1)', 'may cast by the volatile function public.sack_of'],
    ['select 1 ~~~~ 2', 'may cast by the volatile function public.sack_of'],
    ['select 1 < 2', reads],
    ['select 1::sack', 'casts by the volatile function public.sack_of'],
  ])('follows casts: %s (%s)', async (sql, reason) => {
    expect(await reasonOf(sql)).toBe(reason);
  });

  it.each([
    ['select 1 = 1', reads],
    ['select 1 in (select 1)', reads],
    [
      'select row(1, 2)::bag operator(other.=) row(1, 2)::bag',
      'uses an operator that runs the volatile function public.same',
    ],
  ])(
    'follows operators on the search path, and those of a schema: %s (%s)',
    async (sql, reason) => {
      expect(await reasonOf(sql)).toBe(reason);
    },
  );

  it.each<[string, FunctionOptions, string]>([
    [
      'select * from v_over_view',
      { write: ['stable_f'] },
      'calls the listed function public.stable_f in the view v_stable',
    ],
    ['select t.tf from t', { write: ['public.tf'] }, 'calls the listed function public.tf'],
    ['select 1 ### 2', { read: ['differs'] }, reads],
    ['select by_default()', { read: ['public.vol'] }, reads],
    ['select * from v_vol', { read: ['VOL'] }, reads],
    [
      'select * from v_vol',
      { read: ['other.vol'] },
      'calls the volatile function public.vol in the view v_vol',
    ],
    ['select * from guarded', { read: ['truly'] }, reads],
    ['select 1::checked', { read: ['truly'] }, reads],
    ['select bag_of(1)::text', { read: ['bag_text'] }, reads],
    ['select vol(1)', { read: ['public.vol'] }, reads],
    [
      'select * from v_vol',
      { read: ['vol'], write: ['public.vol'] },
      'calls the listed function public.vol in the view v_vol',
    ],
  ])('believes the lists of the user: %s %j (%s)', async (sql, functions, reason) => {
    expect(await reasonOf(sql, functions)).toBe(reason);
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  codeChangesSession,
  hasEscapedName,
  mayChangeSession,
  runsCode,
} from '../../../lib/knex/sent-text.ts';

describe('mayChangeSession', () => {
  it.each([
    'set role none',
    'select 1; set role none',
    '-- why\nset role none',
    '/* why */ set role none',
    'reset all',
    'discard all',
    'create temp table t (a int)',
    'select 1 as a into pg_temp.t',
    "select set_config('app.tenant', $1, false)",
    'select pg_advisory_lock(1)',
    'select pg_try_advisory_lock_shared(1)',
    'do $$ begin perform pg_advisory_lock(1); end $$',
    "select query_to_xml('select pg_try_advisory_lock(1)', true, false, '')",
  ])('sees what leaves something behind: %s', (text) => {
    expect(mayChangeSession(text)).toBe(true);
  });

  it.each([
    'select 1',
    'update t\n set a = 1',
    'select pg_advisory_xact_lock(1), pg_try_advisory_xact_lock(2)',
    'select pg_advisory_unlock(1)',
    'insert into t (template) values ($1)',
    `select '{"glue":"&"}'::jsonb`,
    'select "rank"&"rank" from t',
    'select U&"n\\0061me" from t',
  ])('is not troubled by what leaves nothing: %s', (text) => {
    expect(mayChangeSession(text)).toBe(false);
  });
});

describe('runsCode', () => {
  it.each([
    'do $$ begin end $$',
    'select 1; call p()',
    '-- why\n\n  call p()',
    '/* why */ do $$ begin end $$',
    "select query_to_xml($1, true, false, '')",
    "select query_to_xml_and_xmlschema($1, true, false, '')",
    "select cursor_to_xml('c', 1, true, false, '')",
    'select * from ts_stat($1)',
    'select ts_rewrite(a, $1) from t',
    'select * from crosstab($1) as c (a text, b int)',
    "select * from connectby($1, 'id', 'parent', 'root', 0) as t (a text, b text, c int)",
    "select * from xpath_table('id', 'a', $1, '/a', 'true') as t (a int, b text)",
    'do --why\n/* update */ $$ begin end $$',
    'do /* /* */ update */ $$ begin end $$',
    'do language plpgsql $$ begin update t set a = 1; end $$',
    'select U&"query\\005fto\\005fxml"($1, true, false, $2)',
  ])('sees text within text: %s', (text) => {
    expect(runsCode(text)).toBe(true);
  });

  it.each([
    'select 1',
    'select calls, do_it from t',
    'insert into t (contacts_status, ts_stats) values (1, 2)',
    'insert into t values (1) on conflict (id)\ndo update set a = 2',
    'insert into t values (1) on conflict\n  do nothing',
    'insert into t values (1) on conflict (id) /* why */ DO\n  -- because\n  /* of *that/ */ UPDATE set a = 2',
    `select '{"glue":"&"}'::jsonb`,
    'select "rank"&"rank" from t',
  ])('is not troubled by other statements: %s', (text) => {
    expect(runsCode(text)).toBe(false);
  });
});

describe('codeChangesSession', () => {
  it.each([
    'do $$ begin set statement_timeout = 1; end $$',
    'do $$ begin if true then set statement_timeout = 1; end if; end $$',
    'do $$ begin perform 1; set statement_timeout = 1; end $$',
    "do $$ begin execute 'set statement_timeout = 1'; end $$",
    'do $$ begin reset all; end $$',
    "do $$ begin perform set_config('a.b', 'c', false); end $$",
    "do $$ begin update pg_settings set setting = '1'; end $$",
    "do $$ begin load 'auto_explain'; end $$",
    "do 'begin load ''auto_explain''; end'",
  ])('sees what is not seen afterwards: %s', (text) => {
    expect(codeChangesSession(text)).toBe(true);
  });

  it.each([
    'do $$ declare a int; begin end $$',
    'do $$ begin set local statement_timeout = 1; end $$',
    'do $$ begin update t\n set a = 1; end $$',
    'do $$ begin create temp table t (); end $$',
    'do $$ begin listen a; end $$',
    'call app.load()',
    'call app.reset($1)',
    'call app.prepare()',
  ])('is not troubled by what is, or by names: %s', (text) => {
    expect(codeChangesSession(text)).toBe(false);
  });
});

describe('hasEscapedName', () => {
  it.each(['select U&"a"', 'select(u&"a")', 'select 1+u&"a"'])('sees one: %s', (text) => {
    expect(hasEscapedName(text)).toBe(true);
  });

  it.each(['select "a"&"b"', 'select menu&"b"', 'select $u&"b"', `select '&"'`, "select U&'a'"])(
    'sees none: %s',
    (text) => {
      expect(hasEscapedName(text)).toBe(false);
    },
  );
});

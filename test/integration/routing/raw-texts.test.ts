import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

const reads = [
  'select 1',
  'SELECT 1',
  ' \n\tselect 1',
  '/* a comment */ select 1',
  '-- a comment\nselect 1',
  '/* a /* nested */ one: insert */ select 1',
  'values (1)',
  'table notes',
  '(select 1)',
  '(select 1) union (select 2)',
  'select 1; select 2',
  'with x as (select 1) select * from x',
  "select 'delete me'",
  'select 1 as "update"',
  'select $$ ; delete from notes $$',
  'select $tag$ insert into notes $tag$',
  String.raw`select E'\'; delete from notes'`,
  'select 1 -- update',
  'explain select 1',
  'explain analyze select 1',
  'select now(), random(), gen_random_uuid()',
  "select has_table_privilege('notes', 'insert')",
  'select * from here',
  'select served_by()',
  'select count(*) from outside',
];

const writes = [
  'insert into notes default values',
  '  /* c */ insert into notes default values',
  '-- c\nupdate notes set rank = 1 where false',
  'delete from notes where false',
  'with x as (delete from notes where false returning *) select * from x',
  'select 1; delete from notes where false',
  'explain analyze insert into notes default values',
  'explain (analyze) update notes set rank = 1 where false',
  'call p()',
  'do $$ begin end $$',
  'merge into notes using here on false when matched then delete',
  'truncate spare',
  'select * into made from notes; drop table made',
  'create table made (); drop table made',
  "comment on table notes is 'of the tests'",
  'analyze spare',
  'vacuum spare',
  'show transaction_read_only',
  "notify channel, 'text'",
  "select nextval('numbers')",
  "select pg_catalog.nextval('numbers')",
  'select "nextval"(\'numbers\')',
  "select nextval/**/('numbers')",
  "select pg_notify('channel', 'text')",
  'select pg_current_wal_lsn()',
  'select txid_current()',
  'select pg_advisory_xact_lock(7)',
  "select current_setting('port')",
  'select inet_server_port()',
  'select pg_backend_pid()',
  'select last_value from numbers',
  'select count(*) from pg_stat_activity',
  'select count(*) from unlogged',
  'select writes_a_note()',
  'explain insert into notes default values',
];

// A text that no server takes is sent to the primary, which says so in its own words.
const refused: [string, string][] = [
  ['selec 1', '42601'],
  ['lock table notes', '25P01'],
  // A replica would say 25006.
  ["insert into outside values ('a')", '0A000'],
];

const schema = `
  create table spare (id int);
  create unlogged table unlogged (id int);
  create sequence numbers;
  create extension file_fdw;
  create server files foreign data wrapper file_fdw;
  create foreign table outside (line text) server files options (filename '/dev/null');
  create procedure p() language sql as $$ select 1 $$;
  create function writes_a_note() returns void language sql as $$ insert into notes default values $$;
`;

describe('A raw text', () => {
  const split = useSplit(useRoutingDatabase(schema), 'eventual');

  it('runs on a replica if it is proved to be a read', async () => {
    const { db, servers } = await split.warm();

    expect(await serve(db, servers, reads)).toEqual(reads.map((text) => [text, 'replica']));
  });

  it('runs on the primary otherwise', async () => {
    const { db, servers } = await split.warm();

    expect(await serve(db, servers, writes)).toEqual(writes.map((text) => [text, 'primary']));
  });

  it.each(refused)('is refused by the primary in its own words: %s', async (text, code) => {
    const { db, servers } = await split.warm();

    await expect(db.raw(text)).rejects.toMatchObject({ code });
    expect(servers()).toEqual(['primary']);
  });

  it.each(['begin', 'start transaction read only', 'savepoint a'])(
    'that opens a transaction is not sent: %s',
    async (text) => {
      const { db, servers } = await split.warm();

      await expect(db.raw(text)).rejects.toThrow('use knex.transaction()');
      expect(servers()).toEqual([]);
    },
  );

  it('without a statement is refused by Knex, as ever', async () => {
    const { db } = await split.warm();

    await expect(db.raw('')).rejects.toThrow('The query is empty');
  });
});

async function serve(
  db: Knex,
  servers: () => string[],
  texts: string[],
): Promise<[string, string][]> {
  const served: [string, string][] = [];
  for (const text of texts) {
    await db.raw(text);
    served.push([text, servers().join().replaceAll(/-\d+/g, '')]);
  }
  return served;
}

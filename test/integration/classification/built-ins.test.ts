import { describe, expect, it } from '@jest/globals';
import {
  boundToOneServer,
  boundToOneServerPrefixes,
  refusedByReplicas,
  safeThoughVolatile,
} from '../../../lib/sql/built-in-functions.ts';
import { describesOneServer } from '../../../lib/sql/server-relations.ts';
import { useDatabase } from '../../support/database.ts';

const cluster = useDatabase();

const isListed = (name: string): boolean =>
  boundToOneServer.has(name) ||
  refusedByReplicas.has(name) ||
  boundToOneServerPrefixes.some((prefix) => name.startsWith(prefix));

// Only the server itself can call what takes or returns these.
const ofTheServer = `('internal', 'trigger', 'event_trigger', 'language_handler', 'index_am_handler',
  'table_am_handler', 'tsm_handler', 'fdw_handler')`;
const callable = `pronamespace = 'pg_catalog'::regnamespace and not exists (
  select from pg_type t where t.typname in ${ofTheServer} and (t.oid = prorettype or t.oid = any (proargtypes)))`;

// Views whose rows come from the catalog, from files of the installation, or from the SQL itself.
const replicatedViews = new Set(
  `pg_group pg_indexes pg_matviews pg_policies pg_publication_tables pg_roles pg_rules pg_seclabels
  pg_shadow pg_stats pg_stats_ext pg_stats_ext_exprs pg_tables pg_timezone_abbrevs pg_timezone_names
  pg_user pg_user_mappings pg_views pg_wait_events`.split(/\s+/),
);

describe('the lists of built-in functions', () => {
  it('name every volatile one of this PostgreSQL', async () => {
    const rows = await cluster().primary.query<{ proname: string }>(
      `select distinct proname from pg_proc where provolatile = 'v' and ${callable}`,
    );
    const names = rows.map(({ proname }) => proname);

    expect(names.length).toBeGreaterThan(150);
    expect(names.filter((name) => !isListed(name) && !safeThoughVolatile.has(name))).toEqual([]);
  });

  it('call none both safe and unsafe', () => {
    expect([...safeThoughVolatile].filter(isListed)).toEqual([]);
    expect([...refusedByReplicas].filter((name) => boundToOneServer.has(name))).toEqual([]);
  });

  it('name no function of the user, and nothing misspelt', async () => {
    const rows = await cluster().primary.query<{ proname: string }>(
      "select distinct proname from pg_proc where pronamespace = 'pg_catalog'::regnamespace",
    );
    const known = new Set(rows.map(({ proname }) => proname));
    // Of PostgreSQL 14, of the extension dblink, or newer than the server.
    const elsewhere = /^dblink|^pg_(start|stop)_backup$/;
    const listed = [...boundToOneServer, ...refusedByReplicas, ...safeThoughVolatile];

    expect(listed.filter((name) => !known.has(name) && !elsewhere.test(name))).toEqual([]);
  });
});

describe('describesOneServer', () => {
  it('knows every system view of this PostgreSQL', async () => {
    const rows = await cluster().primary.query<{ relname: string }>(
      "select relname from pg_class where relkind = 'v' and relnamespace = 'pg_catalog'::regnamespace",
    );
    const undecided = rows
      .map(({ relname }) => relname)
      .filter((name) => !describesOneServer({ name }) && !replicatedViews.has(name));

    expect(rows.length).toBeGreaterThan(50);
    expect(undecided).toEqual([]);
  });
});

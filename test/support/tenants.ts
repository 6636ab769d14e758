import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type { StateOptions } from '../../lib/index.ts';
import type { Cluster } from '../../lib/testing/index.ts';
import { sharedCluster } from './cluster.ts';

/** Tenants of a database: each with a schema and a role of its own, and its rows of shared tables. */
export interface Tenants {
  readonly names: readonly string[];
  /** The user that connects: a member of every tenant's role, and nothing else. */
  readonly login: { readonly user: string; readonly password: string };
  /** What the statements of a tenant are to run in. */
  state(name: string): StateOptions;
}

/**
 * Makes tenants in a database for the tests of a file.
 *
 * Each schema has a table `whose` with its tenant's name. The table `app.notes (tenant, text)` shows
 * a role its own rows, and `app.items (tenant)` those of the tenant in the setting `app.tenant`.
 */
export function useTenants(cluster: () => Cluster, count: number): Tenants {
  const prefix = `t${randomBytes(4).toString('hex')}_`;
  const names = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const login = { user: `${prefix}login`, password: 'secret' };

  beforeAll(async () => {
    await cluster().primary.query(setUp(names, login));
    await cluster().waitForReplay();
  });

  afterAll(async () => {
    const roles = [...names, login.user].map((name) => `"${name}"`).join(', ');
    // The database, and all that they own, has gone before them.
    const { primary } = await sharedCluster();
    await primary.query(`drop role if exists ${roles}`);
  });

  const state = (name: string): StateOptions => ({
    searchPath: [name, 'app'],
    role: name,
    settings: { 'app.tenant': name },
  });
  return { names, login, state };
}

function setUp(names: readonly string[], { user, password }: Tenants['login']): string {
  return `
    create role "${user}" login password '${password}';
    create schema app;
    grant usage on schema app to public;
    create table app.notes (tenant text default current_user, text text);
    alter table app.notes enable row level security;
    create policy own on app.notes using (tenant = current_user);
    create table app.items (tenant text);
    alter table app.items enable row level security;
    create policy own on app.items using (tenant = current_setting('app.tenant', true));
    create table app.twice (id int unique deferrable initially deferred);
    grant all on app.notes, app.items, app.twice to public;
    ${names
      .map(
        (name) => `
    create role "${name}";
    grant "${name}" to "${user}";
    create schema "${name}" authorization "${name}";
    create table "${name}".whose as select '${name}'::text as name;
    alter table "${name}".whose owner to "${name}";
    insert into app.notes values ('${name}', 'note');
    insert into app.items values ('${name}');`,
      )
      .join('')}`;
}

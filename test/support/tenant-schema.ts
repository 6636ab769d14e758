import { randomBytes } from 'node:crypto';
import type { StateOptions } from '../../lib/index.ts';

/** Tenants of a database: each with a schema and a role of its own, and its rows of shared tables. */
export interface Tenants {
  readonly names: readonly string[];
  /** The user that connects: a member of every tenant's role, and nothing else. */
  readonly login: { readonly user: string; readonly password: string };
  /** What the statements of a tenant are to run in. */
  state(name: string): StateOptions;
}

/** Names tenants as no other database's are, since roles are the server's. */
export function nameTenants(count: number): Tenants {
  const prefix = `t${randomBytes(4).toString('hex')}_`;
  return {
    names: Array.from({ length: count }, (_, index) => `${prefix}${index}`),
    login: { user: `${prefix}login`, password: 'secret' },
    state: (name) => ({
      searchPath: [name, 'app'],
      role: name,
      settings: { 'app.tenant': name },
    }),
  };
}

/**
 * What makes tenants in a database.
 *
 * Each schema has a table `whose` with its tenant's name. The table `app.notes (tenant, text)` shows
 * a role its own rows, and `app.items (tenant)` those of the tenant in the setting `app.tenant`.
 * `app.written (role, setting, by)` takes down who wrote, as the server sees it, beside who says so.
 * `app.end_session()` and `app.cancel()` end the session and the statement that call them, for which
 * a tenant's role lacks the right.
 */
export function tenantSchema({ names, login: { user, password } }: Tenants): string {
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
    create table app.written (
      role text default current_user, setting text default current_setting('app.tenant', true), by text
    );
    alter table app.written enable row level security;
    create policy own on app.written
      using (role = current_user and setting = current_setting('app.tenant', true));
    create function app.end_session() returns bool security definer language sql
      as 'select pg_terminate_backend(pg_backend_pid())';
    create function app.cancel() returns void security definer language sql
      as 'select pg_cancel_backend(pg_backend_pid()); select pg_sleep(1)';
    create function app.drift() returns text stable language sql
      as $$ select set_config('timezone', 'Asia/Tokyo', false) $$;
    create procedure app.change() language plpgsql
      as $$ begin perform set_config('app.tenant', 'stranger', false); end $$;
    create table app.copied (
      role text default current_user, setting text default current_setting('app.tenant', true), text text
    );
    create table app.twice (id int unique deferrable initially deferred);
    grant all on app.notes, app.items, app.written, app.copied, app.twice to public;
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

import {
  boundToOneServer,
  boundToOneServerPrefixes,
  refusedByReplicas,
  safeThoughVolatile,
} from './built-in-functions.ts';
import { serverRelations } from './server-relations.ts';

/** What the look-up says of one name. */
export interface CatalogRow {
  readonly kind: 'function' | 'relation' | 'operator' | 'type' | 'column';
  /** As it was asked for; null where the search path decided, or where no name was asked for. */
  readonly schema: string | null;
  readonly name: string;
  /** Why it belongs on the primary; null where it only reads. */
  readonly danger: string | null;
}

const literals = (names: Iterable<string>): string => [...names].map((n) => `'${n}'`).join(', ');

const notReads = literals([...refusedByReplicas, ...boundToOneServer]);
const notReadFamilies = boundToOneServerPrefixes
  .map((prefix) => ` or starts_with(p.proname, '${prefix}')`)
  .join('');

const userSchemas = `select oid from pg_catalog.pg_namespace
  where nspname not in ('pg_catalog', 'information_schema') and nspname !~ '^pg_(toast|temp)'`;

// A built-in function is judged by its name, one of the user's by its volatility; an aggregate is
// as volatile as the functions that it is made of.
const functions = `
functions as not materialized (
  select p.oid, p.proname, p.pronamespace, p.pronargs, p.pronargdefaults, p.proargtypes,
    case when p.pronargdefaults > 0 then p.proargdefaults::text end as defaults,
    n.nspname, case
      when n.nspname = 'pg_catalog' then p.proname in (${notReads})${notReadFamilies}
        or (p.provolatile = 'v' and p.proname not in (${literals(safeThoughVolatile)}))
      else 'v' in (p.provolatile, t.provolatile, f.provolatile)
    end as writes
  from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    left join pg_catalog.pg_aggregate a on a.aggfnoid = p.oid
    left join pg_catalog.pg_proc t on t.oid = a.aggtransfn and t.oid <> 0
    left join pg_catalog.pg_proc f on f.oid = a.aggfinalfn and f.oid <> 0
)`;

/**
 * Judges the functions ($1 schemas, $2 names), which are reached through the search path where
 * their schema is null.
 */
const functionRows = `
select 'function' as kind, w.schema, w.name,
  min(case
    when f.writes then 'calls the volatile function '
    when exists (
      select from regexp_matches(f.defaults, ':funcid (\\d+) ', 'g') m
        join functions d on d.oid = m[1]::oid
      where d.writes
    ) then 'calls a volatile function for an argument of '
  end || f.nspname || '.' || f.proname) as danger
from unnest($1::text[], $2::text[]) as w(schema, name)
  join functions f on f.proname = w.name
    and (f.nspname = w.schema or (w.schema is null and f.nspname = any (current_schemas(true))))
group by w.schema, w.name`;

/**
 * Judges the relations ($3 schemas, $4 names) and whatever a view or a partitioned table reads
 * besides. PostgreSQL records no dependency on a built-in function, so the view's rule is searched.
 */
const relationRows = `
select 'relation' as kind, r.schema, r.name, min(case
    when c.relpersistence = 'u' then 'reads the unlogged table '
    when c.relpersistence = 't' then 'reads the temporary table '
    when c.relkind = 'S' then 'reads the sequence '
    when c.relname in (${literals(serverRelations)}) and c.relnamespace = 'pg_catalog'::regnamespace
      then 'reads one server''s view '
    when c.oid in (select oid from tainted_views) then 'calls a volatile function in the view '
  end || c.relname) as danger
from reached r join pg_catalog.pg_class c on c.oid = r.oid
group by r.schema, r.name`;

// Only the rules of the views at hand are read: their text is long.
const taintedViews = `
view_rules as materialized (
  select distinct r.oid, v.oid as rule, v.ev_action::text as action
  from reached r join pg_catalog.pg_rewrite v on v.ev_class = r.oid
  where r.kind = 'v'
),
tainted_views as materialized (
  select v.oid
  from view_rules v
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass
      and d.objid = v.rule and d.refclassid = 'pg_catalog.pg_proc'::regclass
    join functions f on f.oid = d.refobjid
  where f.writes
  union
  select v.oid
  from view_rules v
  where v.action ~ (select ':funcid (' || string_agg(f.oid::text, '|') || ') '
    from functions f where f.writes and f.nspname = 'pg_catalog')
)`;

const reached = `
reached(schema, name, oid, kind) as (
  select w.schema, w.name, c.oid, c.relkind
  from unnest($3::text[], $4::text[]) as w(schema, name)
    join pg_catalog.pg_class c on c.relname = w.name
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      and (n.nspname = w.schema or (w.schema is null and n.nspname = any (current_schemas(true))))
  union
  select r.schema, r.name, c.oid, c.relkind
  from reached r
    join lateral (
      select i.inhrelid from pg_catalog.pg_inherits i where i.inhparent = r.oid
      union all
      select d.refobjid
      from pg_catalog.pg_rewrite v
        join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass
          and d.objid = v.oid and d.refclassid = 'pg_catalog.pg_class'::regclass
      where v.ev_class = r.oid and r.kind = 'v'
    ) as next(oid) on next.oid <> r.oid
    join pg_catalog.pg_class c on c.oid = next.oid
)`;

/** Everything of the user's that runs a volatile function without being called. */
const hazardRows = `
select 'operator', null, o.oprname, 'uses an operator that runs the volatile function ' || min(f.nspname || '.' || f.proname)
from pg_catalog.pg_operator o join functions f on f.oid = o.oprcode
where f.writes and o.oprnamespace in (${userSchemas})
group by o.oprname
union all
select 'type', null, t.typname, 'casts by the volatile function ' || min(f.nspname || '.' || f.proname)
from functions f
  left join pg_catalog.pg_cast c on c.castfunc = f.oid
  join pg_catalog.pg_type t on t.oid = c.casttarget or f.oid in (t.typinput, t.typoutput)
where f.writes and f.pronamespace in (${userSchemas})
  and (c.oid is not null or f.nspname <> 'pg_catalog')
group by t.typname
union all
select 'column', null, f.proname, 'calls the volatile function ' || min(f.nspname || '.' || f.proname)
from functions f join pg_catalog.pg_type t on t.oid = f.proargtypes[0]
where f.writes and f.pronamespace in (${userSchemas})
  and f.pronargs >= 1 and f.pronargs - f.pronargdefaults <= 1
  and (t.typtype = 'c' or t.typname in ('record', 'any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray'))
group by f.proname`;

/**
 * Judges names: functions ($1 schemas, $2 names) and relations ($3 schemas, $4 names), found
 * through the search path where the schema is null.
 */
export const namesQuery: string = `with recursive ${functions}, ${reached}, ${taintedViews}
${functionRows}
union all ${relationRows}`;

/** As {@link namesQuery}, and also everything that runs a volatile function without being called. */
export const namesAndHazardsQuery: string = `${namesQuery}
union all ${hazardRows}`;

// FirstNormalObjectId: what lies below belongs to PostgreSQL.
const isOfUsers = (oid: string): string => `${oid} >= 16384`;

const runs = (f: string): string =>
  `'the ' || ${f}.danger || ' function ' || ${f}.nspname || '.' || ${f}.proname`;

// The checks of domains, and the casts that the user made: all but PostgreSQL's own.
const sources = `
dangerous_checks as (
  select k.contypid, ${runs('f')} as danger
  from pg_catalog.pg_constraint k
    cross join regexp_matches(k.conbin::text, ':(?:funcid|opfuncid) ([1-9][0-9]*)', 'g') m
    join functions f on f.oid = m[1]::oid
  where k.contypid <> 0 and f.danger is not null
),
dangerous_casts as materialized (
  select c.castsource, c.casttarget, c.castcontext, t.typname, ${runs('f')} as danger,
    ${isOfUsers('s.oid')} as of_user, ${isOfUsers('t.oid')} as to_user
  from pg_catalog.pg_cast c
    join functions f on f.oid = c.castfunc
    join pg_catalog.pg_type s on s.oid = c.castsource
    join pg_catalog.pg_type t on t.oid = c.casttarget
  where f.danger is not null and ${isOfUsers('c.oid')}
),
dangerous_types(kind, oid, danger) as materialized (
  select 'type', contypid, 'checks a domain by ' || danger from dangerous_checks
  union all
  select 'type', casttarget, 'casts by ' || danger from dangerous_casts where to_user or not of_user
  union all
  select 'carrier', castsource, '' from dangerous_casts where of_user and not to_user
  union all
  select 'implicit', case when of_user then castsource else casttarget end, 'may cast by ' || danger
  from dangerous_casts where castcontext = 'i' and (of_user or to_user)
  union all
  select 'type', t.oid, 'casts by ' || ${runs('f')}
  from functions f join pg_catalog.pg_type t on f.oid in (t.typinput, t.typoutput)
  where f.danger is not null and ${isOfUsers('f.oid')}
)`;

/**
 * Types that matter to a hazard, and all that are made of them: arrays, domains, composite types
 * and rows of tables. To convert to a `type` is a hazard; what has to do with a `carrier` may have
 * a value that is dangerous to convert to something else; with an `implicit`, one that PostgreSQL
 * converts by itself.
 */
const spread = `
spread(kind, oid, danger) as (
  select t.kind, t.oid, t.danger from dangerous_types t
  union
  select s.kind, made.oid, s.danger
  from spread s cross join unnest(array(
    select d.oid from pg_catalog.pg_type d where d.typtype = 'd' and d.typbasetype = s.oid
    union all
    select e.typarray from pg_catalog.pg_type e where e.oid = s.oid and e.typarray <> 0
    union all
    select c.reltype
    from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
    where a.atttypid = s.oid and not a.attisdropped and c.reltype <> 0
  )) as made(oid)
),
carriers as materialized (
  select kind, array_agg(oid) as types, min(danger) as danger
  from spread where kind <> 'type' group by kind
)`;

/** What the rows of hazards are made from. */
export const hazardSources: string = `${sources}, ${spread}`;

/** Everything of the user's that runs a dangerous function without being called. */
export const hazardRows: string = `
select 'operator', v.schema, o.oprname, 'uses an operator that runs ' || min(${runs('f')})
from pg_catalog.pg_operator o
  join functions f on f.oid = o.oprcode
  join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
  cross join lateral (
    select n.nspname union all select null where n.nspname = any (current_schemas(true))
  ) as v(schema)
where f.danger is not null and ${isOfUsers('o.oid')}
group by v.schema, o.oprname
union all
select s.kind, null, t.typname, min(s.danger)
from spread s join pg_catalog.pg_type t on t.oid = s.oid
group by s.kind, t.typname
union all
select c.kind, null, p.proname, min(c.danger)
from carriers c join pg_catalog.pg_proc p
  on p.prorettype = any (c.types) or (c.kind = 'implicit' and p.proargtypes::oid[] && c.types)
where ${isOfUsers('p.oid')}
group by c.kind, p.proname
union all
select c.kind, null, o.oprname, min(c.danger)
from carriers c join pg_catalog.pg_operator o on o.oprresult = any (c.types)
  or (c.kind = 'implicit' and array[o.oprleft, o.oprright] && c.types and o.oprname <> all (array(
    select b.oprname from pg_catalog.pg_operator b where not ${isOfUsers('b.oid')}
  )))
where ${isOfUsers('o.oid')}
group by c.kind, o.oprname
union all
select 'cast', null, typname, 'casts by ' || min(danger)
from dangerous_casts where of_user and not to_user
group by typname
union all
select k.kind, null, f.proname, 'calls ' || min(${runs('f')})
from functions f
  join pg_catalog.pg_type t on t.oid = f.proargtypes[0]
  cross join lateral (
    select 'field'
    union all
    select 'column' where t.typtype in ('c', 'd', 'p') or f.provariadic <> 0
  ) as k(kind)
where f.danger is not null and ${isOfUsers('f.oid')}
  and f.pronargs >= 1 and f.pronargs - f.pronargdefaults <= 1
  and f.nspname = any (current_schemas(true))
group by k.kind, f.proname`;

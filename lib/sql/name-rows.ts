import { literals } from './catalog-functions.ts';
import { serverRelations } from './server-relations.ts';

// PostgreSQL records no dependency on a built-in function, so the stored expressions are searched
// for the functions that they call, the types that they convert to and the relations that they read.
// No backslash: with standard_conforming_strings off it would be gone.
const mentioned =
  ':(?:(funcid|opfuncid|aggfnoid|winfnoid|resulttype|relid) ([1-9][0-9]*)|rowMarks [(])';

// What is stored as a tree, and where: a view's query, the policies of a table, default arguments,
// the checks of a domain. One row at most, or the planner would expect thousands, and compile.
const tree = `
      select case r.class
        when 'r' then (
          select case
            when c.relkind = 'v' then (
              select array[v.ev_action::text, ' in the view ' || c.relname]
              from pg_catalog.pg_rewrite v where v.ev_class = c.oid and v.ev_type = '1'
            )
            when c.relrowsecurity then (
              select array[string_agg(y.polqual::text, ' '), ' in a policy of ' || c.relname]
              from pg_catalog.pg_policy y where y.polrelid = c.oid and y.polcmd in ('r', '*')
            )
          end
          from pg_catalog.pg_class c where c.oid = r.oid
        )
        when 'f' then (
          select array[p.proargdefaults::text, ' for an argument of ' || p.proname]
          from pg_catalog.pg_proc p where p.oid = r.oid and p.pronargdefaults > 0
        )
        when 't' then (
          select array[string_agg(k.conbin::text, ' '), ' in a check of ' || r.oid::regtype::text]
          from pg_catalog.pg_constraint k where k.contypid = r.oid
        )
      end`;

/**
 * What the functions ($1 schemas, $2 names) and relations ($3 schemas, $4 names) run or read
 * besides; the search path decides where a schema is null. A class is `f` for a function, `r` for a
 * relation, `t` for a type, `l` for a lock on the rows of the relation.
 */
export const reached: string = `
reached(kind, schema, name, class, oid, via) as (
  select 'function', w.schema, w.name, 'f', p.oid, '' collate "C"
  from unnest($1::text[], $2::text[]) as w(schema, name)
    join pg_catalog.pg_proc p on p.proname = w.name
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      and (n.nspname = w.schema or (w.schema is null and n.nspname = any (current_schemas(true))))
  union
  select 'relation', w.schema, w.name, 'r', c.oid, '' collate "C"
  from unnest($3::text[], $4::text[]) as w(schema, name)
    join pg_catalog.pg_class c on c.relname = w.name
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      and (n.nspname = w.schema or (w.schema is null and n.nspname = any (current_schemas(true))))
  union
  select r.kind, r.schema, r.name, next.class, next.oid, next.via
  from reached r cross join lateral (
    select 'r', i.inhrelid, r.via from pg_catalog.pg_inherits i where r.class = 'r' and i.inhparent = r.oid
    union all
    select 't', t.oid, r.via
    from pg_catalog.pg_type t
    where t.typtype = 'd' and t.oid = any (case r.class
      when 'f' then (select p.proargtypes::oid[] from pg_catalog.pg_proc p where p.oid = r.oid)
      when 't' then array(select d.typbasetype from pg_catalog.pg_type d where d.oid = r.oid)
    end)
    union all
    select found.class, coalesce(m[2]::oid, r.oid), case found.class when 'r' then '' else tree.of[2] end
    from (${tree}
    ) as tree(of)
      cross join regexp_matches(tree.of[1], '${mentioned}', 'g') m
      cross join lateral (select case
        when m[1] is null then 'l'
        when m[1] = 'relid' then 'r'
        when m[1] = 'resulttype' then 't'
        else 'f'
      end) as found(class)
  ) as next(class, oid, via)
)`;

/** Judges everything that is {@link reached} from a name. */
export const nameRows: string = `
select r.kind, r.schema, r.name, min(case
    when f.danger is not null
      then 'calls the ' || f.danger || ' function ' || f.nspname || '.' || f.proname || r.via
    when r.class = 'l' then 'locks rows in the view ' || c.relname
    when c.relpersistence = 'u' then 'reads the unlogged table ' || c.relname
    when c.relpersistence = 't' then 'reads the temporary table ' || c.relname
    when c.relkind = 'S' then 'reads the sequence ' || c.relname
    when c.relname in (${literals(serverRelations)}) and c.relnamespace = 'pg_catalog'::regnamespace
      then 'reads one server''s view ' || c.relname
  end) as danger
from reached r
  left join (
    select * from functions where oid = any (array(select oid from reached where class = 'f'))
  ) as f on r.class = 'f' and f.oid = r.oid
  left join pg_catalog.pg_class c on r.class in ('r', 'l') and c.oid = r.oid
group by r.kind, r.schema, r.name`;

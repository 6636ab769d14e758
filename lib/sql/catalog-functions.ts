import {
  boundToOneServer,
  boundToOneServerPrefixes,
  refusedByReplicas,
  safeThoughVolatile,
} from './built-in-functions.ts';

/** Writes names as a list of SQL literals. */
export const literals = (names: Iterable<string>): string =>
  [...names].map((name) => `'${name}'`).join(', ');

const notReads = literals([...refusedByReplicas, ...boundToOneServer]);
const notReadFamilies = boundToOneServerPrefixes
  .map((prefix) => ` or starts_with(p.proname, '${prefix}')`)
  .join('');

const isIn = (list: string): string =>
  `lower(p.proname) = any (${list}::text[]) or lower(n.nspname || '.' || p.proname) = any (${list}::text[])`;

/**
 * All functions, each with what makes it dangerous, if anything does: its label, or the user's word
 * ($5 the names to write, $6 those to read, in lower case).
 *
 * A built-in function is judged by its name, one of the user's by its volatility; an aggregate is
 * as volatile as the functions that it is made of.
 */
export const functions: string = `
functions as not materialized (
  select p.oid, p.proname, p.pronamespace, p.pronargs, p.pronargdefaults, p.proargtypes,
    p.provariadic, p.prorettype, n.nspname, case
      when ${isIn('$5')} then 'listed'
      when ${isIn('$6')} then null
      when n.nspname = 'pg_catalog' then case
        when p.proname in (${notReads})${notReadFamilies}
          or (p.provolatile = 'v' and p.proname not in (${literals(safeThoughVolatile)}))
        then 'volatile' end
      when p.provolatile = 'v' or exists (
        select from pg_catalog.pg_aggregate a join pg_catalog.pg_proc part on part.oid in
          (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
        where a.aggfnoid = p.oid and part.provolatile = 'v'
      ) then 'volatile'
    end as danger
  from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
)`;

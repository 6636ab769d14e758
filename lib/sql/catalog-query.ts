import { functions } from './catalog-functions.ts';
import { hazardRows, hazardSources } from './hazard-rows.ts';
import { nameRows, reached } from './name-rows.ts';

/**
 * What a row of the look-up is about: a name that was asked for (`function`, `relation`), or a
 * hazard of the database, whatever was asked for.
 *
 * The hazards are operators, types that something is converted to, functions written as columns
 * (`t.f`) or as fields (`(x).f`), and casts that matter only where a `carrier` is named, too: what
 * may have a value of their source. Whatever an `implicit` names may be converted without a word.
 */
export type RowKind =
  | 'function'
  | 'relation'
  | 'operator'
  | 'type'
  | 'column'
  | 'field'
  | 'cast'
  | 'carrier'
  | 'implicit';

/** What the look-up says of one name. */
export interface CatalogRow {
  readonly kind: RowKind;
  /** As it was asked for; null where the search path decided, or where no schema counts. */
  readonly schema: string | null;
  readonly name: string;
  /** Why it belongs on the primary; null where it only reads. */
  readonly danger: string | null;
}

/**
 * Judges names: functions ($1 schemas, $2 names) and relations ($3 schemas, $4 names), found
 * through the search path where the schema is null. The user's word on functions is in $5 and $6.
 */
export const namesQuery: string = `with recursive ${functions}, ${reached}
${nameRows}`;

/** As {@link namesQuery}, and also everything that runs a dangerous function without being called. */
export const namesAndHazardsQuery: string = `with recursive ${functions}, ${reached}, ${hazardSources}
${nameRows}
union all ${hazardRows}`;

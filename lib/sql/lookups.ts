import type { QualifiedName } from './qualified-name.ts';

/** The names in a text that only the database's catalog can judge. */
export interface Lookups {
  readonly functions: readonly QualifiedName[];
  readonly relations: readonly QualifiedName[];
  /** Operators: an overload may run a volatile function. */
  readonly operators: readonly QualifiedName[];
  /** Types that something is cast to, by their bare name. */
  readonly types: readonly string[];
  /** The `f` of every `t.f`, which may be a function of one composite argument. */
  readonly columns: readonly string[];
  /** The `f` of every `(x).f`, which may be a function of any one argument. */
  readonly fields: readonly string[];
}

/** Nothing to look up. */
export const noLookups: Lookups = Object.freeze({
  functions: [],
  relations: [],
  operators: [],
  types: [],
  columns: [],
  fields: [],
});

/** Tells whether a text can be judged without the catalog. */
export function isEmpty(lookups: Lookups): boolean {
  return Object.values(lookups).every((names: readonly unknown[]) => names.length === 0);
}

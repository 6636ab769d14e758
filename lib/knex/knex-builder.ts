import type { Executable } from './internals.ts';

/** Whether a value is a query, raw or schema builder of some copy of Knex. */
export function isKnexBuilder(value: object): value is Executable {
  const { toSQL, client } = value as Partial<Executable>;
  return typeof toSQL === 'function' && typeof client?.runner === 'function';
}

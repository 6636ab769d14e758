import type { RowQueryClass } from './known-rows.ts';
import { knownRowQuery } from './known-rows.ts';
import { OwnMethod } from './own-method.ts';
import type { DriverClient } from './pg-driver.ts';
import type { DriverQueryClass } from './position-query.ts';
import { isPositionQuestion, positionQuery } from './position-query.ts';

/** A statement as Knex hands it to the driver. */
interface PlainQuery {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Of one that is prepared. */
  readonly name?: string | undefined;
}

/** Tells whether `Client.query` is the driver's own: tracing puts another in its place. */
export function ownClientQuery(): OwnMethod {
  return new OwnMethod((source) => source.includes('new Query(config, values, callback)'));
}

/**
 * Puts the arguments of `query` of `pg` so that it has less to do: it copies what it is given as an
 * object, at a tenth of the time of a small query.
 */
export function quickArguments(
  Query: NonNullable<(typeof DriverClient)['Query']>,
  args: readonly unknown[],
): readonly unknown[] {
  const [query, callback] = args;
  if (args.length !== 2 || typeof callback !== 'function') return args;
  if (typeof query !== 'object' || query === null) return args;
  if (isPlain(query)) {
    const { text, values, name } = query;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they are of one class.
    const KnownQuery = knownRowQuery(Query as unknown as RowQueryClass);
    const made = new KnownQuery(text, values, callback);
    return [name === undefined ? made : Object.assign(made, { name })];
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they are of one class.
  return isPositionQuestion(query)
    ? [positionQuery(Query as unknown as DriverQueryClass, query), callback]
    : args;
}

function isPlain(query: object): query is PlainQuery {
  for (const key in query) if (key !== 'text' && key !== 'values' && key !== 'name') return false;
  const { text, values, name } = query as Partial<PlainQuery>;
  const isNameOrNone = name === undefined || typeof name === 'string';
  return typeof text === 'string' && Array.isArray(values) && isNameOrNone;
}

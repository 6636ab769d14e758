import type { RowQueryClass } from './known-rows.ts';
import { knownRowClass } from './known-rows.ts';
import { OwnMethod } from './own-method.ts';
import type { DriverClient } from './pg-driver.ts';
import type { DriverQueryClass } from './position-query.ts';
import { isPositionQuestion, positionClass } from './position-query.ts';

type DriverQuery = NonNullable<(typeof DriverClient)['Query']>;

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

/** The query classes of a driver that have less to do. */
export interface QuickQueries {
  readonly Known: RowQueryClass;
  readonly Position: DriverQueryClass;
}

const derived = new WeakMap<DriverQuery, QuickQueries>();

/** Finds the quick query classes of a driver: the same ones for all clients, as V8 likes it. */
export function quickQueries(Query: DriverQuery): QuickQueries {
  let queries = derived.get(Query);
  if (queries === undefined) {
    queries = {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- more of its members.
      Known: knownRowClass(Query as unknown as RowQueryClass),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above.
      Position: positionClass(Query as unknown as DriverQueryClass),
    };
    derived.set(Query, queries);
  }
  return queries;
}

/**
 * Puts the arguments of `query` of `pg` so that it has less to do: it copies what it is given as an
 * object, at a tenth of the time of a small query.
 */
export function quickArguments(
  { Known, Position }: QuickQueries,
  args: readonly unknown[],
): readonly unknown[] {
  const [query, callback] = args;
  if (args.length !== 2 || typeof callback !== 'function') return args;
  if (typeof query !== 'object' || query === null) return args;
  if (isPlain(query)) {
    const { text, values, name } = query;
    const made = new Known(text, values, callback);
    return [name === undefined ? made : Object.assign(made, { name })];
  }
  return isPositionQuestion(query) ? [new Position(query.text), callback] : args;
}

function isPlain(query: object): query is PlainQuery {
  for (const key in query) if (key !== 'text' && key !== 'values' && key !== 'name') return false;
  const { text, values, name } = query as Partial<PlainQuery>;
  const isNameOrNone = name === undefined || typeof name === 'string';
  return typeof text === 'string' && Array.isArray(values) && isNameOrNone;
}

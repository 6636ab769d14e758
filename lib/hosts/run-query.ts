import type { Connection } from './host.ts';

const OWN: unique symbol = Symbol('knex-rwsplit.own');

/** A `pg` client, as far as a statement of our own needs it. */
interface Querying {
  query(query: MarkedQuery, done: (error: unknown, result: Result | undefined) => void): unknown;
}

interface Result {
  readonly rows: readonly Row[];
}

/** A row, as the server or a parser of types writes it. */
export type Row = Readonly<Record<string, unknown>>;

/** A statement of our own. */
export interface OwnQuery {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /** Instead of what an application made of the driver's types. */
  readonly types?: { getTypeParser(): (text: unknown) => unknown } | undefined;
}

/** Values as the server writes them, whatever an application made of the driver's types and formats. */
export const asTexts: NonNullable<OwnQuery['types']> = {
  getTypeParser: () => (text) => (Buffer.isBuffer(text) ? text.toString() : text),
};

/** What is marked as a statement of our own. */
export interface MarkedQuery {
  readonly [OWN]: boolean;
}

/** Marks what is sent as a statement of our own that runs in whatever state its session is. */
export function markOwn<Q extends object>(query: Q): Q & MarkedQuery {
  return Object.assign(query, { [OWN]: true });
}

/** Whether what is sent is a statement of our own, which changes nothing of its session. */
export function isOwnQuery(query: unknown): query is MarkedQuery {
  return typeof query === 'object' && query !== null && OWN in query;
}

/** Whether what is sent is a statement of our own that runs in whatever state its session is. */
export function isStatelessQuery(query: unknown): boolean {
  return isOwnQuery(query) && query[OWN];
}

/**
 * Runs a statement of our own on a connection of a pool.
 *
 * @param isStateless whether it means the same in whatever state the session is, which then stays
 *   as it is; false for what runs in the state that is wanted of the connection.
 */
export function runQuery(
  connection: Connection,
  query: OwnQuery,
  isStateless = true,
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    sendQuery(connection, { ...query, [OWN]: isStateless }, (error, rows) => {
      if (error === null || error === undefined) resolve(rows);
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever the driver says.
      else reject(error);
    });
  });
}

/**
 * Sends a statement of our own on a connection of a pool.
 *
 * By a callback, as Knex does: what an application wraps around `query` may know nothing else.
 */
export function sendQuery(
  connection: Connection,
  query: MarkedQuery,
  done: (error: unknown, rows: readonly Row[]) => void,
): void {
  // Whoever opened the connection made sure that it is one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  (connection as Querying).query(query, (error, result) => done(error, result?.rows ?? []));
}

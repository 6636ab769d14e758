import type { Cluster } from '../../lib/testing/index.ts';

/** The queries that are compared, with the rows that each one has to bring. */
export const rowsOf: Readonly<Record<QueryName, number>> = {
  read: 1,
  join: 10,
  insert: 1,
  transaction: 5,
  raw: 5,
  stream: 10_000,
};

/** One of the queries that are compared. */
export type QueryName = 'read' | 'join' | 'insert' | 'transaction' | 'raw' | 'stream';

/** The names of the queries, in the order of the tables. */
export const queryNames: readonly QueryName[] = [
  'read',
  'join',
  'insert',
  'transaction',
  'raw',
  'stream',
];

/**
 * Runs a query once; the number chooses the rows. Answers with how many rows it brought; of a
 * transaction, all its statements together.
 */
export type Query = (number: number) => Promise<number>;

/** The queries, as the users of a library write them. */
export interface Queries {
  /** A book by its primary key. */
  readonly read: Query;
  /** The ten books of an author, each with the author and the publisher. */
  readonly join: Query;
  /** A loan, which brings its id. */
  readonly insert: Query;
  /** Reads a book; inserts a loan, changes it, reads it, and deletes it. */
  readonly transaction: Query;
  /** Five books of an author, by a text of SQL. */
  readonly raw: Query;
  /** All books, one after the other; undefined where the library has nothing for it. */
  readonly stream: Query | undefined;
}

/** A library that has opened its connections. */
export interface Opened extends Queries {
  readonly close: () => Promise<unknown>;
}

/** Something that is compared with others. */
export interface Subject {
  readonly name: string;
  /** What it reaches: the primary alone, one replica, too, or all replicas. */
  readonly hosts: 'one' | 'two' | 'all';
  /** Why it cannot be measured here; undefined where it can. */
  readonly missing?: () => string | undefined;
  readonly open: (cluster: Cluster) => Promise<Opened>;
}

/** How many connections there are to each host, at most. */
export const connectionsEach = 10;

/** How long an idle connection stays: longer than the others take for their turn. */
export const idleMillis = 120_000;

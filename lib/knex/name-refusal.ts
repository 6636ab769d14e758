import type { Host } from '../hosts/host.ts';
import { errorFacts } from '../routing/error-facts.ts';
import type { NamedStatements } from './named-statements.ts';

// What a server says of a plan, of types or of names that are not what they were when it prepared.
const STALE_CLASSES: ReadonlySet<string> = new Set(['0A', '22', '26', '42', 'XX']);

// A value less, or more, than a statement has parameters: without a name it is another error.
const WRONG_VALUES = '08P01';

// invalid_sql_statement_name and duplicate_prepared_statement.
const NO_SUCH_NAME = '26000';
const NAME_EXISTS = '42P05';

/**
 * A statement was sent by name and not executed, and may be what it is without one; nothing is to be
 * concluded from it of its host.
 */
export class NameRefusal extends Error {
  override readonly cause: unknown;
  readonly host: Host;
  readonly names: NamedStatements;
  /** What the session has by name is not what was prepared in it. */
  readonly loss: 'missing' | 'another' | undefined;

  constructor(host: Host, names: NamedStatements, cause: unknown, sqlState: string) {
    super('The statement was not executed by its name');
    this.cause = cause;
    this.host = host;
    this.names = names;
    this.loss = losses[sqlState];
  }
}

const losses: Readonly<Record<string, NameRefusal['loss']>> = {
  [NO_SUCH_NAME]: 'missing',
  [NAME_EXISTS]: 'another',
};

// How the driver itself refuses another text under a name; it has sent nothing then.
const NOT_UNIQUE = 'Prepared statements must be unique';

/** What becomes of an error that a named statement met: itself, where the name has no part in it. */
export function asNameRefusal(error: unknown, host: Host, names: NamedStatements): unknown {
  const { sqlState = '', isFatal } = errorFacts(error);
  // What is wrapped around the driver sends another text each time, as with a trace in a comment.
  if (error instanceof Error && error.message.startsWith(NOT_UNIQUE)) {
    return new NameRefusal(host, names, error, sqlState);
  }
  if (isFatal || names.mayHaveRun || !isStale(sqlState)) return error;
  return new NameRefusal(host, names, error, sqlState);
}

function isStale(sqlState: string): boolean {
  return STALE_CLASSES.has(sqlState.slice(0, 2)) || sqlState === WRONG_VALUES;
}

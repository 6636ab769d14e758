/**
 * What an error says of the statement that met it: the server lacks or forbids something in it
 * (`missing`), its time was up or somebody cancelled it (`cancelled`), or it may well be answered
 * when it is asked again (`passing`).
 */
export type ServerComplaint = 'missing' | 'cancelled' | 'passing';

/** What pg adds to an error that the server sent. */
interface ServerError extends Error {
  readonly severity?: unknown;
  readonly code?: unknown;
}

// Conflicts with recovery, lack of resources, an operator's work, trouble with files, and 55000: a
// promotion between `pg_is_in_recovery()` and what depends on it.
const PASSING = /^(40|53|57|58|55000)/;

/** Reads an error of a statement; undefined where it is not the server's or has ended the session. */
export function serverComplaint(error: Error): ServerComplaint | undefined {
  const { severity, code }: ServerError = error;
  // The driver's and Node's own errors have no severity.
  if (typeof severity !== 'string' || /^(FATAL|PANIC)/.test(severity)) return undefined;
  if (code === '57014') return 'cancelled';
  return typeof code === 'string' && PASSING.test(code) ? 'passing' : 'missing';
}

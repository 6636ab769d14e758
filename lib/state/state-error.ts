import { SessionStateError } from '../errors.ts';
import type { Change } from './known-state.ts';

// The session was ended, the statement was cancelled or took too long: nothing of the state's.
const OF_SESSION = /^(?:57|08|53)/;

/**
 * Makes the error of a statement that was not run as its state could not be set up; what isn't due
 * to the state stays as it is.
 */
export function stateError(cause: unknown, changes: readonly Change[]): unknown {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : '';
  if (typeof code !== 'string' || OF_SESSION.test(code) || !/^[\dA-Z]{5}$/.test(code)) return cause;

  const settings = [...new Set(changes.map(({ name }) => name))];
  return new SessionStateError(
    `The session state of the statement (${settings.join(', ')}) could not be set up: PostgreSQL refused it (${code}, see the cause). The statement was not run.`,
    { cause, settings },
  );
}

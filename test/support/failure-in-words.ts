import type { Failure } from '../../lib/routing/failure.ts';

/** Tells what becomes of the host, the connection, the statement, a read and a write, for tables of tests. */
export function failureInWords(failure: Failure): string {
  const { host, isConnectionLost, executed, rerunRead, rerunWrite } = failure;
  const connection = isConnectionLost ? 'lost' : 'kept';
  return `${host}, ${connection}, ran ${executed}; read ${rerunRead}, write ${rerunWrite}`;
}

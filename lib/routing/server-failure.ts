import type { HostRole } from '../events.ts';
import type { Failure } from './failure.ts';
import { judgeRefusal } from './misroute.ts';

// What tells of a server, or of a pooler's way to it, that ends a session with it. As a mere ERROR
// it is about a third server, of which postgres_fdw and dblink pass on what they meet there.
const SESSION_ENDS = new Map<string, Partial<Failure>>([
  ['57P01', { host: 'network', rerunRead: 'elsewhere' }],
  ['57P02', { host: 'network', rerunRead: 'elsewhere' }],
  ['58000', { host: 'network', rerunRead: 'elsewhere' }],
  ['08', { host: 'network', rerunRead: 'elsewhere' }],
  // Said to those who want a session: the statement waits in a pooler.
  ['57P03', unsent('starting')],
  ['53300', unsent('overloaded')],
  ['28', { ...unsent('misconfigured'), rerunWrite: 'no' }],
  ['3D', { ...unsent('misconfigured'), rerunWrite: 'no' }],
  // The server looks for these before it reads the next statement; PostgresMain, tcop/postgres.c.
  ['25P03', unsent('none')],
  ['57P05', unsent('none')],
]);

// Conflicts of a replica's queries with what it replays.
const CONFLICTS = new Set(['40001', '40P01']);

// Of one host's files: 58030 io_error, XX001 data_corrupted, XX002 index_corrupted.
const DAMAGE = new Set(['58030', 'XX001', 'XX002']);

/**
 * Judges a server's answer to a statement.
 *
 * @param isFatal whether the server ended the session with it.
 */
export function judgeServerError(
  error: unknown,
  sqlState: string,
  isFatal: boolean,
  role: HostRole,
): Failure {
  const failure: Failure = {
    host: 'none',
    isConnectionLost: isFatal,
    executed: isFatal ? 'unknown' : 'no',
    rerunRead: 'no',
    rerunWrite: 'no',
  };
  if (isFatal) {
    const end = SESSION_ENDS.get(sqlState) ?? SESSION_ENDS.get(sqlState.slice(0, 2));
    if (end !== undefined) return { ...failure, ...end };
  }
  if (DAMAGE.has(sqlState)) return { ...failure, rerunRead: 'elsewhere' };
  if (CONFLICTS.has(sqlState) && role === 'replica') return { ...failure, rerunRead: 'elsewhere' };
  return { ...failure, ...afterRefusal(error, role) };
}

function afterRefusal(error: unknown, role: HostRole): Partial<Failure> {
  const refusal = judgeRefusal(error);
  if (refusal === 'none') return {};
  if (role === 'replica') {
    return { rerunRead: refusal === 'rerun' ? 'primary-if-behind' : 'primary' };
  }
  return refusal === 'rerun' ? {} : { rerunWrite: 'if-demoted' };
}

function unsent(host: Failure['host']): Partial<Failure> {
  return { host, executed: 'no', rerunRead: 'elsewhere', rerunWrite: 'yes' };
}

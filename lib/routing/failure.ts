import { isPasswordError } from '../hosts/password-error.ts';
import { SessionStateError } from '../errors.ts';
import type { HostRole } from '../events.ts';
import { hostAfterConnectError } from './connect-failure.ts';
import { judgeDriverError } from './driver-failure.ts';
import { errorFacts } from './error-facts.ts';
import { judgeServerError } from './server-failure.ts';

/**
 * What a failed attempt tells of its host.
 *
 * - `none`: nothing.
 * - `doubtful`: it may be hung or restarted; ask it, but think no worse of it yet.
 * - `network`: it may be gone; suspect.
 * - `starting`: it says that it is about to serve.
 * - `overloaded`: it is alive and refuses further connections.
 * - `misconfigured`: it, or how we connect to it, has to be mended by a person.
 */
export type HostEvidence =
  'none' | 'doubtful' | 'network' | 'starting' | 'overloaded' | 'misconfigured';

/** What a failed attempt tells: of the host, of the connection, and of whether the server ran the statement. */
export interface Failure {
  readonly host: HostEvidence;
  /** Whether the connection is of no further use. */
  readonly isConnectionLost: boolean;
  /** Whether its server may be at it still, for nobody. */
  readonly isLeftRunning?: boolean;
  /** Whether the statement took effect: `no` where that is proved, by not being sent or by a rollback. */
  readonly executed: 'no' | 'unknown';
  /**
   * Where a read outside a transaction may run again: on another replica and then the primary
   * (`elsewhere`), on the primary alone, there if the replica may be behind in its schema, or nowhere.
   */
  readonly rerunRead: 'no' | 'elsewhere' | 'primary' | 'primary-if-behind';
  /** Whether a write outside a transaction may run again: `if-demoted`, where the host proves to be a replica. */
  readonly rerunWrite: 'no' | 'yes' | 'if-demoted';
}

/**
 * Judges an error that a statement met on an open connection.
 *
 * @param role what the host was taken for when the statement was sent there.
 */
export function judgeStatementError(error: unknown, role: HostRole): Failure {
  if (error instanceof SessionStateError) return withoutState(error, role);
  const facts = errorFacts(error);
  return facts.sqlState === undefined
    ? judgeDriverError(facts)
    : judgeServerError(error, facts.sqlState, facts.isFatal, role);
}

// A replica may lack the role, or the right to it, that the primary has. Whatever else is refused, or was
// not even sent, is the application's to mend.
function withoutState({ settings }: SessionStateError, role: HostRole): Failure {
  return {
    host: 'none',
    isConnectionLost: false,
    executed: 'no',
    rerunRead: role === 'replica' && settings.includes('role') ? 'primary-if-behind' : 'no',
    rerunWrite: 'no',
  };
}

/** Judges an error met while a connection was being opened or acquired: nothing was sent. */
export function judgeConnectError(error: unknown): Failure {
  const host = isPasswordError(error) ? 'misconfigured' : hostAfterConnectError(errorFacts(error));
  const isPassing = host === 'network' || host === 'starting' || host === 'overloaded';
  return {
    host,
    isConnectionLost: true,
    executed: 'no',
    rerunRead: 'elsewhere',
    rerunWrite: isPassing ? 'yes' : 'no',
  };
}

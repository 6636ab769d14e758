import type { ErrorFacts } from './error-facts.ts';
import type { HostEvidence } from './failure.ts';
import { isNetworkCode, isTlsCode } from './network-code.ts';

const NETWORK_TEXTS = new Set([
  'timeout expired',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'There was an error establishing an SSL connection',
  'socket hang up',
  // Of the questions that are asked before a connection is given out.
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
]);

const MISCONFIGURED_TEXT =
  /^(SASL: .*|Password must be a string|The server does not support SSL connections|Unknown authenticationOk message type.*)$/s;

// Data of the start-up packet, features, object states such as "not accepting connections",
// authentication, names, privileges; of PostgreSQL's appendix "Error Codes".
const MISCONFIGURED_STATE = /^(0A|22|28|3D|42|55|57P04)/;

// PgBouncer's words, under a code that it has for all that is wrong.
const REFUSED_PARAMETER = /^unsupported startup parameter/;

/** What an error says of a host to which a connection was being opened. */
export function hostAfterConnectError(facts: ErrorFacts): HostEvidence {
  const { sqlState, systemCode, message } = facts;
  if (sqlState !== undefined) return serverEvidence(sqlState, facts);

  if (systemCode !== undefined) {
    if (isNetworkCode(systemCode)) return 'network';
    if (isTlsCode(systemCode)) return 'misconfigured';
  }
  if (NETWORK_TEXTS.has(message)) return 'network';
  return MISCONFIGURED_TEXT.test(message) ? 'misconfigured' : 'none';
}

function serverEvidence(sqlState: string, { isFatal, message, detail }: ErrorFacts): HostEvidence {
  if (sqlState === '57P03') {
    if (detail === 'Hot standby mode is disabled.') return 'misconfigured';
    return message === 'the database system is shutting down' ? 'network' : 'starting';
  }
  // The session was there: a statement that the application runs on each new connection failed.
  if (!isFatal) return 'none';
  if (sqlState.startsWith('53')) return 'overloaded';
  if (REFUSED_PARAMETER.test(message)) return 'misconfigured';
  return MISCONFIGURED_STATE.test(sqlState) ? 'misconfigured' : 'network';
}

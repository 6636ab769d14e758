import type { ErrorFacts } from './error-facts.ts';
import type { Failure } from './failure.ts';
import { isNetworkCode, isTlsCode } from './network-code.ts';

/** Sent, and the answer did not come. */
const LOST: Failure = {
  host: 'network',
  isConnectionLost: true,
  executed: 'unknown',
  rerunRead: 'elsewhere',
  rerunWrite: 'no',
};

/** Never sent, as the connection had ended before. */
const UNSENT: Failure = { ...LOST, host: 'doubtful', executed: 'no', rerunWrite: 'yes' };

/** Thrown by whoever makes the statement's bindings or reads its rows. */
const OF_THE_CALLER: Failure = {
  host: 'none',
  isConnectionLost: false,
  executed: 'unknown',
  rerunRead: 'no',
  rerunWrite: 'no',
};

// What `pg` says without a code; whole messages, as parts may be what a user wrote.
const TEXTS = new Map<string, Failure>([
  ['Connection terminated unexpectedly', LOST],
  ['socket hang up', LOST],
  // Ended from this side.
  ['Connection terminated', { ...LOST, host: 'none' }],
  // The server may be at it still, and the driver answers nothing more on this connection.
  ['Query read timeout', { ...LOST, host: 'doubtful', isLeftRunning: true }],
  ['Client has encountered a connection error and is not queryable', UNSENT],
  ['Client was closed and is not queryable', { ...UNSENT, host: 'none' }],
]);

const OUT_OF_STEP =
  /^(Received unexpected \w+ message from backend\.|received invalid response: [0-9a-f]+)$/;

/** Judges an error of the driver or the system that a statement met on an open connection. */
export function judgeDriverError({ systemCode, message }: ErrorFacts): Failure {
  if (systemCode !== undefined && (isNetworkCode(systemCode) || isTlsCode(systemCode))) {
    return LOST;
  }
  if (OUT_OF_STEP.test(message)) return { ...LOST, host: 'none' };
  return TEXTS.get(message) ?? OF_THE_CALLER;
}

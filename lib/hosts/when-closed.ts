import type { Clock } from '../clock.ts';
import type { Connection } from './host.ts';

/** The members of a `pg` client that tell of its end. */
interface Ending {
  once?(event: 'end', listener: () => void): unknown;
  readonly connection?: {
    readonly stream?: { readonly readableEnded?: boolean; readonly errored?: object | null };
  };
}

/**
 * Calls `then` once the server has closed a connection; where this side gave it up, `noticeMillis`
 * later, as the server has yet to notice.
 *
 * @returns false where the driver does not tell of the end.
 */
export function whenClosed(
  connection: Connection,
  clock: Clock,
  noticeMillis: number,
  then: () => void,
): boolean {
  const ending = connection as Ending;
  if (typeof ending.once !== 'function') return false;

  ending.once('end', () => {
    if (isClosedThere(ending)) then();
    else clock.after(noticeMillis, then);
  });
  return true;
}

// PostgreSQL closes a socket last of all: whoever has seen that knows that the session has gone.
function isClosedThere({ connection }: Ending): boolean {
  const stream = connection?.stream;
  if (stream === undefined || stream.readableEnded === true) return true;
  // Errors of the system, for one address or several, end a connection on both sides.
  const errored = stream.errored ?? {};
  return 'syscall' in errored || 'errors' in errored;
}

import type { Session } from '../consistency/session.ts';
import type { Connection } from '../hosts/host.ts';
import { isWrite } from '../routing/uncaptured.ts';
import type { RWSplit } from './rw-split.ts';
import type { Sending } from './sending.ts';
import { sessionOf } from './session-scope.ts';

/** Has a session doubt its position, and the one that the caller is in, which knows of the write, too. */
export function doubtAll({ state }: RWSplit, session: Session): void {
  session.doubt();
  const here = sessionOf(state);
  if (here !== session) here.doubt();
}

/** Sends what may write, without a position to be had of it. */
export async function sendAndDoubt<T>(
  { split, lease, session, send }: Sending<T>,
  connection: Connection,
): Promise<T> {
  try {
    return await send(connection);
  } finally {
    if (lease.hostRole === 'primary' && isWrite(lease)) doubtAll(split, session);
    lease.isSettled = true;
  }
}

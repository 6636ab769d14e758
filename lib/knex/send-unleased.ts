import type { Connection } from '../hosts/host.ts';
import { doubtAll } from './doubts.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';

/** Sends a statement on a connection that the application took from a pool: it may write. */
export async function sendUnleased<T>(
  split: RWSplit,
  connection: Connection,
  send: Send<T>,
): Promise<T> {
  const session = split.dispatcher.handedOutTo(connection);
  try {
    return await send(connection);
  } finally {
    if (session !== undefined) doubtAll(split, session);
  }
}

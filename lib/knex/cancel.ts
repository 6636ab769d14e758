import type { EventEmitter } from 'events';
import type { Connection } from '../hosts/host.ts';
import type { CancellingDriver } from './cancel-request.ts';
import { sendCancelRequest } from './cancel-request.ts';
import type { RWSplit } from './rw-split.ts';
import { systemClock } from '../clock.ts';

// How long the server may take to accept a cancel request, and then to end the statement.
const CANCEL_MILLIS = 5000;

/**
 * Cancels the statement of a connection on the server that runs it.
 *
 * A connection whose statement goes on regardless is not handed out again.
 */
export async function cancelStatement(
  split: RWSplit,
  driver: CancellingDriver,
  connection: Connection,
): Promise<void> {
  const lease = split.dispatcher.leaseOf(connection);
  const running = lease?.connection ?? connection;
  if (lease !== undefined) lease.isCancelled = true;
  if (lease?.isLoose === true) return;

  // Where others wait behind it on a chosen connection, the last one sent is not what is cancelled.
  const isChosen = lease?.isTaken === true || lease?.isTransaction === true;
  const answer = isChosen ? nextAnswer(running) : undefined;
  try {
    await sendCancelRequest(driver, running, CANCEL_MILLIS);
    // Given back before the statement has ended, the connection's next one could be cancelled.
    const hasEnded = await endsInTime(lease?.running, answer?.ended);
    if (!hasEnded) split.sessionChanges.spoil(running);
  } finally {
    answer?.forget();
  }
}

/** The wire of a `pg` client, which says when a statement has ended. */
interface Answering {
  readonly connection?: Partial<Pick<EventEmitter, 'once' | 'off'>>;
}

function nextAnswer({ connection }: Answering): { ended: Promise<void>; forget: () => void } {
  let forget: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => {
    connection?.once?.('readyForQuery', resolve);
    forget = () => connection?.off?.('readyForQuery', resolve);
  });
  return { ended, forget: () => forget?.() };
}

// Whichever of the two comes first.
async function endsInTime(
  statement: Promise<unknown> | undefined,
  answer: Promise<void> | undefined,
): Promise<boolean> {
  if (statement === undefined) return true;
  return new Promise((resolve) => {
    const stopWaiting = systemClock.after(CANCEL_MILLIS, () => resolve(false));
    const ended = (): void => {
      stopWaiting();
      resolve(true);
    };
    statement.then(ended, ended);
    void answer?.then(ended);
  });
}

import { systemClock } from '../clock.ts';
import { connectionState, settled } from '../hosts/connection-state.ts';
import type { Connection } from '../hosts/host.ts';
import type { CancellingDriver } from './cancel-request.ts';
import { sendCancelRequest } from './cancel-request.ts';

// How long a server may take to end a statement.
const CANCEL_MILLIS = 1000;

/** The socket of a `pg` client. */
interface Socketed {
  readonly connection?: { readonly stream?: { pause?(): unknown } };
}

/** Ends what runs on a connection that is about to be severed, and reads no answer to it. */
export async function cancelUnread(
  driver: CancellingDriver,
  connection: Connection,
): Promise<void> {
  if (!isRunning(connection)) return;

  // Whoever waits is told of the end, not of a cancellation that nobody asked for.
  (connection as Socketed).connection?.stream?.pause?.();
  await sendCancelRequest(driver, connection, CANCEL_MILLIS).catch(() => undefined);
}

/**
 * Ends what runs on a connection that is about to be ended: its server would go on with it, and hold
 * the session for as long.
 */
export async function cancelRunning(
  driver: CancellingDriver,
  connection: Connection,
): Promise<void> {
  if (!isRunning(connection)) return;

  sendCancelRequest(driver, connection, CANCEL_MILLIS).catch(() => undefined);
  await settled(connection, systemClock, CANCEL_MILLIS);
}

function isRunning(connection: Connection): boolean {
  const state = connectionState(connection);
  return state === 'busy' || state === 'given up';
}

import { systemClock } from '../clock.ts';
import { connectionState, settled } from '../hosts/connection-state.ts';
import type { Connection } from '../hosts/host.ts';
import type { CancellingDriver } from './cancel-request.ts';
import { sendCancelRequest } from './cancel-request.ts';

// How long a server may take to end a statement.
const CANCEL_MILLIS = 1000;

/**
 * Ends what runs on a connection that is about to be ended: its server would go on with it, and hold
 * the session for as long.
 */
export async function cancelRunning(
  driver: CancellingDriver,
  connection: Connection,
): Promise<void> {
  const state = connectionState(connection);
  if (state !== 'busy' && state !== 'given up') return;

  sendCancelRequest(driver, connection, CANCEL_MILLIS).catch(() => undefined);
  await settled(connection, systemClock, CANCEL_MILLIS);
}

import { connectionState } from '../hosts/connection-state.ts';
import type { Connection } from '../hosts/host.ts';
import type { Lease } from '../routing/lease.ts';
import { sessionRefusal } from '../state/session-refusal.ts';
import type { RWSplit } from './rw-split.ts';

// What is to be known before the text is read, which statements of a transaction don't wait for.
const LOCKS = /\bpg_(?:try_)?advisory_lock(?:_shared)?\b/i;

/**
 * Has a lease keep its connection for the session-level advisory lock that its statement takes.
 *
 * @param place gives back the place that was reserved among the kept connections.
 * @throws {SessionStateError} where a pooler may give each transaction another session.
 */
export function lockOn({ settings }: RWSplit, lease: Lease, place: () => void): void {
  const { connection, host } = lease;
  const refused = sessionRefusal('lock', connection, host.name, settings.pooler);
  if (refused === undefined) {
    lease.mayHoldLocks = true;
    lease.lockPlace = place;
    return;
  }
  void lease.release();
  throw refused;
}

/**
 * Refuses a session-level advisory lock on a connection that the application holds, as
 * {@link lockOn} does; inside of a transaction the session stays the same.
 *
 * @throws {SessionStateError} when that is so.
 */
export function assertLockable(split: RWSplit, connection: Connection, text: string): void {
  if (!LOCKS.test(text) || connectionState(connection) === 'transaction') return;

  const host = split.cluster.hosts.find(({ pool }) => pool.isUsing(connection))?.name ?? 'a host';
  const refused = sessionRefusal('lock', connection, host, split.settings.pooler);
  if (refused !== undefined) throw refused;
}

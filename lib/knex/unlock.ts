import type { Connection } from '../hosts/host.ts';
import { connectionState } from '../hosts/connection-state.ts';
import { runQuery } from '../hosts/run-query.ts';
import type { Lease, Unlock } from '../routing/lease.ts';
import type { CompiledStatement } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';
import { describeRoute } from './statement.ts';

// One call and nothing else: run in a session that doesn't hold the lock, it does nothing.
const BARE_UNLOCK =
  /^\s*select\s+(?:pg_catalog\s*\.\s*)?pg_advisory_unlock(?:_shared)?\s*\((?:[^()'";]|hashtext(?:extended)?\s*\([^()";]*\))*\)(?:\s+(?:as\s+)?(?:\w+|"\w+"))?\s*(?:;\s*)?$/i;

/** Whether an unlock statement may be tried on one session after the other. */
export function isBareUnlock(text: string): boolean {
  return BARE_UNLOCK.test(text);
}

/**
 * Runs an unlock statement where its lock is held.
 *
 * One that does nothing else is tried on the kept connections in turn. Any other runs once, on the
 * connection that was kept last; where it gives back all locks, the others give theirs back, too.
 */
export async function runUnlock(
  split: RWSplit,
  lease: Lease,
  { use, isBare, others }: Unlock,
  statement: CompiledStatement,
  send: Send<CompiledStatement>,
): Promise<CompiledStatement> {
  if (use === 'unlock-all') {
    try {
      return await send(lease.connection);
    } finally {
      await Promise.all(others.map(({ connection }) => unlockAll(connection)));
    }
  }

  let answer = await tolerate(lease, send, isBare && others.length > 0);
  for (const kept of isBare ? others : []) {
    if (answer !== undefined && hasUnlocked(answer)) break;

    split.dispatcher.move(lease, kept);
    statement.rwSplit = describeRoute(lease);
    answer = await tolerate(lease, send, kept !== others.at(-1));
  }
  return answer ?? send(lease.connection);
}

// A session that has ended holds no lock: another one may.
async function tolerate(
  { connection }: Lease,
  send: Send<CompiledStatement>,
  hasMore: boolean,
): Promise<CompiledStatement | undefined> {
  try {
    return await send(connection);
  } catch (error) {
    if (hasMore && hasLost(connection, error)) return undefined;
    throw error;
  }
}

// A server that ends a session (57P01 and the like) says so before the connection has ended.
function hasLost(connection: Connection, error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return connectionState(connection) === 'ended' || String(code).startsWith('57P0');
}

// A session that has ended has given its locks back.
async function unlockAll(connection: Connection): Promise<void> {
  try {
    await runQuery(connection, { text: 'select pg_catalog.pg_advisory_unlock_all()' });
  } catch {
    return;
  }
}

// pg_advisory_unlock answers false, and warns, in a session that doesn't hold the lock.
function hasUnlocked({ response }: CompiledStatement): boolean {
  const rows = response?.rows ?? [];
  return rows.some((row) => Object.values(row as object).includes(true));
}

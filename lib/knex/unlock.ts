import type { Lease, Unlock } from '../routing/lease.ts';
import type { CompiledStatement } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';
import { describeRoute } from './statement.ts';

/**
 * Runs an unlock statement on the kept connections until one of them held the lock, or, where it
 * gives back all locks, on every one.
 */
export async function runUnlock(
  split: RWSplit,
  lease: Lease,
  { use, others }: Unlock,
  statement: CompiledStatement,
  send: Send<CompiledStatement>,
): Promise<CompiledStatement> {
  let answer = await send(lease.connection);
  for (const kept of others) {
    if (use === 'unlock' && hasUnlocked(answer)) break;

    split.dispatcher.move(lease, kept.host, kept.connection);
    statement.rwSplit = describeRoute(lease);
    answer = await send(kept.connection);
  }
  return answer;
}

// pg_advisory_unlock answers false, and warns, in a session that doesn't hold the lock.
function hasUnlocked({ response }: CompiledStatement): boolean {
  const rows = response?.rows ?? [];
  return rows.some((row) => Object.values(row as object).includes(true));
}

import type { Lease } from '../routing/lease.ts';
import type { KeptConnection } from '../routing/kept-connection.ts';
import type { CompiledStatement } from './internals.ts';
import type { StatementRequest } from './request.ts';
import { isList } from './request.ts';
import type { RWSplit } from './rw-split.ts';
import { textOf } from './statement-text.ts';
import { isBareUnlock } from './unlock.ts';

/**
 * Leases the connection that was kept last because of its locks, for a statement that unlocks.
 *
 * @param onEnd told when the lease has ended.
 * @returns undefined where no connection is kept.
 */
export function unlockLease(
  split: RWSplit,
  wanted: StatementRequest,
  compiled: CompiledStatement | readonly CompiledStatement[],
  kept: readonly KeptConnection[],
  isStream: boolean,
  onEnd: () => void,
): Lease | undefined {
  const [first, ...others] = kept.toReversed();
  const use = wanted.verdict?.lockUse;
  if (first === undefined || use === undefined) return undefined;

  const route = { ...split.dispatcher.route(wanted), reason: 'unlocks where it was locked' };
  const lease = split.dispatcher.adopt(route, first, wanted, onEnd);
  const only = isList(compiled) && compiled.length === 1 ? compiled[0] : compiled;
  const isAlone = !isStream && only !== undefined && !isList(only);
  lease.unlock = { use, isBare: isAlone && isBareUnlock(textOf(only)), others };
  split.announce(lease);
  return lease;
}

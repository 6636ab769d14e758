import type { ConsistencyStats } from '../hosts/consistency-stats.ts';
import type { Host } from '../hosts/host.ts';
import type { RWSplit } from './rw-split.ts';

/** Counts a read of a session: how it was served, or that it had nothing to see. */
export function countRead(
  { stalenessWarning }: RWSplit,
  host: Host,
  how: Exclude<keyof ConsistencyStats, 'stale'> | 'free',
): void {
  if (how !== 'free') host.consistency[how]++;
  stalenessWarning.note(how === 'forStaleness');
}

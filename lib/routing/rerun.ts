import type { Failure } from './failure.ts';
import type { Lease } from './lease.ts';

/**
 * Where a failed statement runs again: on another host that may serve it, on the primary alone,
 * there if that takes no long wait, or where it belongs once the host has proved to be demoted.
 */
export type Rerun = 'elsewhere' | 'primary' | 'primary-soon' | 'again' | 'if-demoted';

// A host whose pool holds nothing but dead connections gives out one after the other.
const MOST_ATTEMPTS = 8;

/** Decides whether a statement that failed runs again; undefined where its error is the answer. */
export function planRerun(lease: Lease, failure: Failure): Rerun | undefined {
  // Given up (a timeout, a cancel, a closed stream): nobody waits for an answer.
  if (lease.isReleased || lease.isCancelled || (lease.attempts?.length ?? 0) >= MOST_ATTEMPTS) {
    return undefined;
  }
  const isRead = lease.request?.intent === 'read';
  if (isRead) {
    switch (failure.rerunRead) {
      case 'elsewhere':
        return lease.mayRetry ? 'elsewhere' : undefined;
      case 'primary':
        return lease.mayRerun ? 'primary' : undefined;
      case 'primary-if-behind':
        return lease.mayRerun ? 'primary-soon' : undefined;
      case 'no':
        return undefined;
      default:
        return failure.rerunRead satisfies never;
    }
  }
  if (!lease.mayRetry || lease.route.role !== 'primary') return undefined;
  if (failure.rerunWrite === 'yes') return 'again';
  return failure.rerunWrite === 'if-demoted' ? 'if-demoted' : undefined;
}

// What makes a transaction count.
const COMMIT = /(?:^|;)\s*(?:commit|end|prepare\s+transaction)\b/i;

/** Whether nobody can know if what the statement was to change was changed. */
export function isOutcomeUnknown(lease: Lease, failure: Failure, text: string): boolean {
  if (failure.executed === 'no' || !failure.isConnectionLost) return false;
  if (lease.route.intent === 'read') return false;
  return !lease.isTransaction || COMMIT.test(text);
}

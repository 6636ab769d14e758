import type { Lease } from './lease.ts';

/** Whether a lease runs, or ran, what its session has to see later. */
export function isWrite({ route, mayHaveWritten }: Lease): boolean {
  return route.intent !== 'read' || mayHaveWritten;
}

/** Has the session of an ended lease doubt its position, where it wrote and the position was not captured. */
export function noteUncaptured(lease: Lease): void {
  const { session, hostRole, isTaken, isTransaction, isTracked, isSettled } = lease;
  if (session === undefined || hostRole !== 'primary' || !isWrite(lease)) return;
  // What the application itself ran on a connection that it took, nobody knows.
  const isKnown = isTransaction ? isSettled : isTracked && !isTaken;
  if (!isKnown) session.doubt();
}

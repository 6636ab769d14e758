import type { Lease } from './lease.ts';

/** Whether a lease runs, or ran, what its session has to see later. */
export function isWrite({ route, mayHaveWritten }: Lease): boolean {
  return route.intent !== 'read' || mayHaveWritten;
}

/**
 * Has the session of an ended lease doubt its position, where it wrote and the position was not
 * captured, or may be captured later: it was given up on the way.
 */
export function noteUncaptured(lease: Lease): void {
  const { session, hostRole, isTaken, isSettled } = lease;
  if (session === undefined || hostRole !== 'primary' || !isWrite(lease)) return;
  // What the application itself ran on a connection that it took, nobody knows.
  if (isTaken || !isSettled) session.doubt();
}

import type { ServerSlot } from './server-slot.ts';

/** A pool that shares the connections of a server with others. */
export interface BudgetMember {
  /** What its connections are for, as people call it. */
  readonly label: string;
  /** How many connections it would open at this moment. */
  readonly demand: number;
  /** Since when the first acquire waits that one of those is for, on the clock. */
  readonly demandSince: number;
  /** Since when its first acquire waits for anything; infinite where none does. */
  readonly waitsSince: number;
  /** Since when its longest-idle connection is idle; undefined where none is. */
  readonly idleSince: number | undefined;
  /** Opens a connection in a place that is its own. */
  open(slot: ServerSlot): void;
  /** Ends the connection that is idle for longest. */
  endIdle(): void;
}

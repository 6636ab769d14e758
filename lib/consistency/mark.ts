import type { Lsn } from './lsn.ts';

/** A position in the WAL with the timeline that it is on: without that, positions can't be compared. */
export interface Mark {
  readonly timeline: number;
  readonly lsn: Lsn;
}

/** Whether a mark is of an earlier time than another one. */
export function isBefore(one: Mark, other: Mark): boolean {
  return one.timeline < other.timeline || (one.timeline === other.timeline && one.lsn < other.lsn);
}

/** The later of two marks: a timeline begins where a promotion ended the one before it. */
export function laterMark(one: Mark, other: Mark | undefined): Mark {
  return other === undefined || !isBefore(one, other) ? one : other;
}

import { parseLsn } from './lsn.ts';
import type { Lsn } from './lsn.ts';
import type { Mark } from './mark.ts';

/**
 * Asks a primary how far it has written.
 *
 * Where it inserts, and not where it has written to: with `synchronous_commit` off, which a
 * function or a transaction may set for itself, a commit is acknowledged before it is written.
 */
export const WRITTEN: string =
  'select pg_catalog.pg_current_wal_insert_lsn() as lsn, ' +
  'pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8) as timeline';

/** Asks a replica how far it has replayed. */
export const REPLAYED = 'select pg_catalog.pg_last_wal_replay_lsn() as lsn';

/** Asks a replica how far it has replayed, and on which timeline. */
export const REPLAYED_ON: string =
  `${REPLAYED}, coalesce((select received_tli from pg_catalog.pg_stat_wal_receiver), ` +
  '(select timeline_id from pg_catalog.pg_control_checkpoint())) as timeline';

/** As {@link REPLAYED_ON}, where the server keeps its control file to itself. */
export const REPLAYED_ON_RECEIVED: string = `${REPLAYED}, (select received_tli from pg_catalog.pg_stat_wal_receiver) as timeline`;

/** What a server answered to one of the questions, as text. */
export type Answer = Readonly<Record<string, string | null>>;

// As an insert position may point behind the header of a page that has nothing else yet.
const PAGE_BYTES = 8192;
const PAGE_HEADER_BYTES = 24;
const SEGMENT_BITS = 20;
const SEGMENT_HEADER_BYTES = 40;

const HEX = 16;
const MAX_TIMELINE = 0xffff_ffff;

/** Reads an answer to {@link WRITTEN}; undefined where it is none. */
export function readWritten(answer: Answer | undefined): Mark | undefined {
  const lsn = readLsn(answer);
  const timeline = readTimeline(answer, HEX);
  return lsn === undefined || timeline === undefined
    ? undefined
    : { timeline, lsn: reachable(lsn) };
}

/** Reads the position in an answer to {@link REPLAYED} or {@link REPLAYED_ON}. */
export function readLsn(answer: Answer | undefined): Lsn | undefined {
  const text = answer?.['lsn'];
  if (typeof text !== 'string') return undefined;
  try {
    return parseLsn(text);
  } catch {
    return undefined;
  }
}

/** Reads the timeline in an answer to {@link REPLAYED_ON}. */
export function readTimeline(answer: Answer | undefined, base = 10): number | undefined {
  const timeline = Number.parseInt(answer?.['timeline'] ?? '', base);
  return timeline > 0 && timeline <= MAX_TIMELINE ? timeline : undefined;
}

/**
 * Right after a page begins, the insert position lies behind a header that no replica replays before
 * the next record: it stands for the beginning of the page.
 */
function reachable(lsn: Lsn): Lsn {
  const inSegment = Number(BigInt.asUintN(SEGMENT_BITS, lsn));
  if (inSegment === SEGMENT_HEADER_BYTES) return lsn - BigInt(SEGMENT_HEADER_BYTES);
  return inSegment % PAGE_BYTES === PAGE_HEADER_BYTES ? lsn - BigInt(PAGE_HEADER_BYTES) : lsn;
}

import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/** What a refusal by a replica tells: nothing, to try the primary, or that the text belongs there for good. */
export type Refusal = 'none' | 'rerun' | 'rerun-and-learn';

// A replica that is behind a DDL statement lacks what the primary has: schema, table, column,
// function, type. It says nothing about the text.
const SCHEMA_CODES = new Set(['3F000', '42P01', '42703', '42883', '42704']);

// Codes that other causes share; only the words (or, where they are localised, the routine in the
// server's source) tell that recovery is the cause.
const RECOVERY_CODES = new Set(['0A000', '55000', 'XX000']);
const RECOVERY_ROUTINES = new Set([
  'PreventCommandDuringRecovery',
  'get_relation_info',
  'GetNewObjectId',
  'GetNewTransactionId',
  'GetSerializableTransactionSnapshot',
  'XLogInsert',
  'XLogBeginInsert',
]);

/** Judges what a replica answered to a statement that was routed there as a read. */
export function judgeRefusal(error: unknown): Refusal {
  if (typeof error !== 'object' || error === null || !('code' in error)) return 'none';

  const { code } = error;
  if (typeof code !== 'string') return 'none';
  if (code === '25006') return 'rerun-and-learn';
  if (SCHEMA_CODES.has(code)) return 'rerun';
  if (!RECOVERY_CODES.has(code)) return 'none';

  const message = 'message' in error ? String(error.message) : '';
  const routine = 'routine' in error ? String(error.routine) : '';
  const isRecovery =
    RECOVERY_ROUTINES.has(routine) ||
    /during recovery|recovery is in progress|hot standby/i.test(message);
  return isRecovery ? 'rerun-and-learn' : 'none';
}

/** Texts that look like reads and aren't, as replicas have shown: bounded, and forgotten after a while. */
export class Misroutes {
  readonly #learnt: LRUCache<string, true>;
  #count = 0;

  constructor(clock: Clock, max = 1000, expiresMillis = 600_000) {
    this.#learnt = new LRUCache({
      max,
      ttl: expiresMillis,
      // Else it would keep the time in a timer of its own.
      ttlResolution: 0,
      perf: { now: () => clock.now() },
    });
  }

  /**
   * Whether a text is known to belong to the primary.
   *
   * @param key stands for the role and the search path, which decide what its names mean.
   */
  has(text: string, key = ''): boolean {
    return this.#learnt.size > 0 && this.#learnt.get(idOf(text, key)) === true;
  }

  /** Counts a re-run, and says the how manieth it is. */
  countRerun(): number {
    return ++this.#count;
  }

  /** Forgets every text, as after DDL that may have mended it. */
  forget(): void {
    this.#learnt.clear();
  }

  /** Sends a text to the primary from here on. */
  learn(text: string, key = ''): void {
    this.#learnt.set(idOf(text, key), true);
  }
}

function idOf(text: string, key: string): string {
  return key === '' ? text : `${key}\0${text}`;
}

/** What became of one query of a load. */
export interface Outcome {
  /** Its number: the first query is 0, reads and writes counted apart. */
  readonly n: number;
  /** When it was due, in milliseconds since the load began. */
  readonly atMillis: number;
  /** How long after that it was answered or failed; undefined while it is out. */
  delayMillis?: number;
  /** Who served it, if it was answered. */
  server?: string;
  error?: LoadError;
}

/** Why a query of a load failed. */
export interface LoadError {
  readonly atMillis: number;
  readonly code: string | undefined;
  readonly message: string;
  /** `error.rwSplit.outcome`. */
  readonly outcome: string | undefined;
}

/** How many queries each server answered. */
export type Served = Readonly<Record<string, number>>;

/** What became of the reads, or of the writes, of a load. */
export interface Tally {
  readonly total: number;
  readonly answered: number;
  readonly failed: number;
  /** Neither answered nor failed when the load had stopped. */
  readonly unanswered: number;
  /** Not sent, as too many others were out. */
  readonly skipped: number;
  /** The first ten. */
  readonly errors: readonly LoadError[];
  /** The longest delay, of those that failed and those still out as well, and when that query was due. */
  readonly longest: { readonly delayMillis: number; readonly atMillis: number };
  readonly served: Served;
  /** Who served the queries that were answered from one moment of the load to another. */
  spread(fromMillis: number, toMillis: number): Served;
  /** That for every 100 ms, from the beginning of the load. */
  readonly timeline: readonly Served[];
}

const bucketMillis = 100;
const shownErrors = 10;

/** Counts what became of queries; `nowMillis` is for those that are still out. */
export function tallyOf(outcomes: readonly Outcome[], skipped: number, nowMillis: number): Tally {
  const answered = outcomes.filter(isAnswered);
  const errors = outcomes.flatMap(({ error }) => error ?? []);
  const spread = (fromMillis: number, toMillis: number): Served =>
    servedBy(
      answered.filter((outcome) => {
        const end = endOf(outcome);
        return end >= fromMillis && end < toMillis;
      }),
    );

  return {
    total: outcomes.length,
    answered: answered.length,
    failed: errors.length,
    unanswered: outcomes.length - answered.length - errors.length,
    skipped,
    errors: errors.slice(0, shownErrors),
    longest: longestOf(outcomes, nowMillis),
    served: servedBy(answered),
    spread,
    timeline: timelineOf(answered),
  };
}

/** The longest time that no query was answered, in seconds, from the beginning to `nowMillis`. */
export function longestGap(outcomes: readonly Outcome[], nowMillis: number): number {
  const ends = outcomes
    .filter(isAnswered)
    .map(endOf)
    .toSorted((one, other) => one - other);
  const gaps = [...ends, nowMillis].map((end, index) => end - (ends[index - 1] ?? 0));
  return Math.max(...gaps) / 1000;
}

/** Whether a query was answered, and not with an error. */
export function isAnswered({ delayMillis, error }: Outcome): boolean {
  return delayMillis !== undefined && error === undefined;
}

function endOf({ atMillis, delayMillis = 0 }: Outcome): number {
  return atMillis + delayMillis;
}

function servedBy(outcomes: readonly Outcome[]): Served {
  const served: Record<string, number> = {};
  for (const { server = 'unknown' } of outcomes) served[server] = (served[server] ?? 0) + 1;
  return served;
}

function timelineOf(answered: readonly Outcome[]): Served[] {
  const buckets: Outcome[][] = [];
  for (const outcome of answered) {
    const index = Math.floor(endOf(outcome) / bucketMillis);
    while (buckets.length <= index) buckets.push([]);
    buckets[index]?.push(outcome);
  }
  return buckets.map(servedBy);
}

function longestOf(outcomes: readonly Outcome[], nowMillis: number): Tally['longest'] {
  let longest = { delayMillis: 0, atMillis: 0 };
  for (const { atMillis, delayMillis = nowMillis - atMillis } of outcomes) {
    if (delayMillis > longest.delayMillis) longest = { delayMillis, atMillis };
  }
  return longest;
}

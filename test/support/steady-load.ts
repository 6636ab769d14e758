import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { asError } from '../../lib/errors.ts';
import type { TestHost } from '../../lib/testing/index.ts';
import { until } from '../../lib/testing/until.ts';
import {
  isAnswered,
  type LoadError,
  longestGap,
  type Outcome,
  type Tally,
  tallyOf,
} from './load-report.ts';

const tickMillis = 5;

/**
 * Runs query number `n` of a load. Where it answers with `{ server }`, or with rows or `{ rows }` of
 * which the first has a `server`, that one is counted as the server that ran it.
 */
export type LoadQuery = (db: Knex, n: number) => PromiseLike<unknown>;

/** What {@link startLoad} sends, and how often. */
export interface LoadOptions {
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
  /** By default it looks for the write of the same number in the table `notes`. */
  readonly read?: LoadQuery;
  /** By default it inserts a `body` into the table `notes` that no other write has. */
  readonly write?: LoadQuery;
  /**
   * Whether the default queries ask the function `served_by()` who runs them.
   *
   * @default true
   */
  readonly servedBy?: boolean;
  /**
   * How many queries may be out at a time; those due beyond it are skipped, and counted.
   *
   * @default 2000
   */
  readonly maxInFlight?: number;
}

/** What became of a load. */
export interface LoadReport {
  readonly reads: Tally;
  readonly writes: Tally;
  /** Every write that failed. */
  readonly failedWrites: readonly LoadError[];
  /** The `body` of each default write that was acknowledged: none of them may be lost. */
  readonly acknowledged: readonly string[];
  /** The longest time between two acknowledged writes. */
  readonly secondsWithoutWrite: number;
}

/** A load that runs. */
export interface Load {
  readonly reads: readonly Outcome[];
  readonly writes: readonly Outcome[];
  /** Milliseconds since the load began, as in its report. */
  now(): number;
  /**
   * Sends no more, waits for what is out, and reports.
   *
   * @param withinMillis how long to wait; what is out then counts as unanswered. 15 s by default.
   */
  stop(withinMillis?: number): Promise<LoadReport>;
}

/**
 * Sends reads and writes at a steady rate, whether or not the earlier ones were answered, as many
 * independent users do. Delays count from when a query was due.
 */
export function startLoad(db: Knex, options: LoadOptions): Load {
  const { readsPerSecond, writesPerSecond, maxInFlight = 2000, servedBy = true } = options;
  const name = randomBytes(4).toString('hex');
  const server = db.raw(servedBy ? 'served_by() as server' : 'null as server');
  const {
    read = (_, n) =>
      db('notes')
        .select(server)
        .count('* as notes')
        .where({ body: bodyOf(name, n) }),
    write = (_, n) =>
      db('notes')
        .insert({ body: bodyOf(name, n) })
        .returning(server),
  } = options;

  const begin = performance.now();
  const now = (): number => performance.now() - begin;
  let inFlight = 0;

  const send = async (query: LoadQuery, outcome: Outcome): Promise<void> => {
    inFlight++;
    try {
      const server = serverOf(await query(db, outcome.n));
      if (server !== undefined) outcome.server = server;
    } catch (error) {
      outcome.error = errorOf(error, now());
    }
    outcome.delayMillis = now() - outcome.atMillis;
    inFlight--;
  };
  const stream = (query: LoadQuery, perSecond: number): Stream => {
    const outcomes: Outcome[] = [];
    let due = 0;
    let skipped = 0;
    const sendDue = (): void => {
      for (; (due * 1000) / perSecond <= now(); due++) {
        if (inFlight >= maxInFlight) {
          skipped++;
          continue;
        }
        const outcome = { n: due, atMillis: (due * 1000) / perSecond };
        outcomes.push(outcome);
        void send(query, outcome);
      }
    };
    return { outcomes, sendDue, tally: () => tallyOf(outcomes, skipped, now()) };
  };

  const reads = stream(read, readsPerSecond);
  const writes = stream(write, writesPerSecond);
  const timer = setInterval(() => {
    reads.sendDue();
    writes.sendDue();
  }, tickMillis).unref();

  return {
    reads: reads.outcomes,
    writes: writes.outcomes,
    now,
    async stop(withinMillis = 15_000) {
      clearInterval(timer);
      const end = now();
      // What does not come is told by the report.
      await until('all are answered', withinMillis, () => inFlight === 0).catch(() => undefined);
      const answered = writes.outcomes.filter(isAnswered);
      return {
        reads: reads.tally(),
        writes: writes.tally(),
        failedWrites: writes.outcomes.flatMap(({ error }) => error ?? []),
        acknowledged: options.write ? [] : answered.map(({ n }) => bodyOf(name, n)),
        secondsWithoutWrite: longestGap(writes.outcomes, end),
      };
    },
  };
}

/** Which acknowledged writes of a load a server does not have. */
export async function lostWrites(
  host: TestHost,
  { acknowledged }: Pick<LoadReport, 'acknowledged'>,
): Promise<string[]> {
  const rows = await host.query<{ body: string }>(
    `select body from unnest($1::text[]) as acknowledged (body)
      where not exists (select from notes where notes.body = acknowledged.body)`,
    [acknowledged],
  );
  return rows.map(({ body }) => body);
}

interface Stream {
  readonly outcomes: readonly Outcome[];
  sendDue(): void;
  tally(): Tally;
}

function bodyOf(load: string, n: number): string {
  return `load ${load} ${n}`;
}

function serverOf(answer: unknown): string | undefined {
  if (Array.isArray(answer)) return serverOf(answer[0]);
  if (typeof answer !== 'object' || answer === null) return undefined;
  if ('rows' in answer) return serverOf(answer.rows);
  return 'server' in answer && typeof answer.server === 'string' ? answer.server : undefined;
}

function errorOf(thrown: unknown, atMillis: number): LoadError {
  const error: Error & { code?: unknown; rwSplit?: { outcome?: unknown } } = asError(thrown);
  const { code, message, rwSplit } = error;
  return { atMillis, code: asText(code), message, outcome: asText(rwSplit?.outcome) };
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

import type { Knex } from 'knex';
import { rwSplit } from '../../lib/index.ts';
import { type HistoryEvent, historyClock, type Operation } from './history.ts';

/** What a session is to do without a pause, in one process. */
export interface Turn {
  readonly session: string;
  readonly isMonotonic?: boolean;
  /** The token of its turn before. */
  readonly after?: string | undefined;
  readonly steps: readonly Step[];
}

/** Something that a session does. */
export type Step =
  | { readonly kind: 'write'; readonly key: string; readonly version: string }
  | { readonly kind: 'read'; readonly key: string }
  | {
      readonly kind: 'transaction';
      readonly steps: readonly Exclude<Step, { readonly kind: 'transaction' }>[];
      readonly isRolledBack?: boolean;
    };

/** What came of a turn; it can go from one process to another. */
export interface TurnResult {
  readonly events: readonly HistoryEvent[];
  readonly token?: string | undefined;
}

/** What turns need in a database, besides `served_by()`. */
export const historySchema = `
  create table entries (key text not null, version text not null unique);
  create index on entries (key);
`;

/** Runs a turn in a session scope of its own. */
export async function runTurn(db: Knex, process: string, turn: Turn): Promise<TurnResult> {
  const { after, isMonotonic = false } = turn;
  return rwSplit(db).session({ after, monotonic: isMonotonic }, async () => {
    const events = await runSteps(db, process, turn);
    return { events, token: rwSplit(db).token() };
  });
}

/** Runs the steps of a turn in whatever session surrounds the call. */
export async function runSteps(
  db: Knex,
  process: string,
  { session, isMonotonic = false, steps }: Turn,
): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  for (const step of steps) {
    const operations: Operation[] = [];
    const beganAt = historyClock();
    let end: Pick<HistoryEvent, 'outcome' | 'error'> = { outcome: 'ok' };
    try {
      await runStep(db, step, operations);
    } catch (error) {
      end = describeFailure(error);
    }
    const endedAt = historyClock();
    const { kind } = step;
    events.push({ kind, session, process, isMonotonic, beganAt, endedAt, operations, ...end });
  }
  return events;
}

class RollBack extends Error {}

async function runStep(db: Knex, step: Step, operations: Operation[]): Promise<void> {
  if (step.kind === 'transaction') {
    await db.transaction(async (trx) => {
      for (const inner of step.steps) await runStep(trx, inner, operations);
      if (step.isRolledBack === true) throw new RollBack('as planned');
    });
  } else if (step.kind === 'write') {
    const { key, version } = step;
    // Before it is sent: if it fails, it may have been done.
    operations.push({ kind: 'write', key, version });
    await db('entries').insert({ key, version });
  } else {
    const { key } = step;
    const [row] = await db('entries')
      .select(
        db.raw('served_by() as server'),
        db.raw(`coalesce(array_agg(version), '{}') as versions`),
      )
      .where({ key });
    operations.push({ kind: 'read', key, ...row });
  }
}

function describeFailure(thrown: unknown): Pick<HistoryEvent, 'outcome' | 'error'> {
  const { message, rwSplit } = thrown as Error & { rwSplit?: { outcome?: unknown } };
  return { outcome: rwSplit?.outcome === 'unknown' ? 'unknown' : 'failed', error: message };
}

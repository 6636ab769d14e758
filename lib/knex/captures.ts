import { systemClock } from '../clock.ts';
import type { Mark } from '../consistency/mark.ts';
import { isBefore } from '../consistency/mark.ts';
import type { Session } from '../consistency/session.ts';
import type { Answer } from '../consistency/questions.ts';
import { readWritten, WRITTEN } from '../consistency/questions.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { BehindError } from '../routing/behind-error.ts';
import type { Lease } from '../routing/lease.ts';
import { ask } from './question.ts';
import { doubtAll, sendAndDoubt } from './doubts.ts';
import type { Sending } from './sending.ts';
import { sentText } from './sending.ts';
import { countRead } from './count-read.ts';
import { isLacking } from './lacks.ts';
import { piped } from './piped.ts';
import { fulfilled, rejected, unwrap } from './settled.ts';
import { sessionOf } from './session-scope.ts';
import type { Piped } from './beside.ts';

const REST_MILLIS = 60_000;

// Servers that were asked in vain are not asked for a while.
const restUntil = new WeakMap<Host, number>();

/** Sends what may write, and captures the position behind it for its session. */
export async function captured<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { lease, session } = sending;
  lease.isSettled = false;
  if (isResting(lease.host)) return sendAndDoubt(sending, connection);

  const { doubts } = session;
  const answers = await askBehind(sending, connection);
  noteAnswers(sending, connection, answers);
  noteCapture(sending, answers, doubts);
  lease.isSettled = true;
  return unwrap(answers.result);
}

/**
 * Reads on the primary, which has all that was written; where the position of its session isn't known,
 * or nobody has confirmed it, it is captured behind the read.
 *
 * @throws {BehindError} when the primary has not written what a token told of.
 */
export function readOnPrimary<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { split, lease, session, send } = sending;
  const { need, host, route } = lease;
  // One that came here after a check is counted already.
  if (!lease.isMoved)
    countRead(split, host, route.isPastReplicas === true ? 'forStaleness' : 'free');
  const isUnsure =
    need !== undefined &&
    (need.mark === undefined || session.isGiven || need.mark.timeline !== host.report?.timeline);
  if ((!isUnsure && !session.settings.monotonic) || isResting(host)) return send(connection);
  return confirmed(sending, connection, isUnsure);
}

/** Sends a statement to the primary, and has a monotonic session know what it may have seen. */
export async function seenOnPrimary<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { session, send } = sending;
  if (!session.settings.monotonic) return send(connection);

  const answers = await askBehind(sending, connection);
  noteAnswers(sending, connection, answers);
  const mark = readWritten(answers.behind);
  if (mark !== undefined) session.noteSeen(mark, systemClock.now());
  return unwrap(answers.result);
}

async function confirmed<T>(
  sending: Sending<T>,
  connection: Connection,
  isUnsure: boolean,
): Promise<T> {
  const { lease, session, send, isStream } = sending;
  const { doubts } = session;
  if (isStream) {
    // Its rows are read before anything behind them is.
    learn(lease, session, readWritten(await askWritten(lease.host, connection)), doubts, isUnsure);
    return send(connection);
  }
  const answers = await askBehind(sending, connection);
  noteAnswers(sending, connection, answers);
  const mark = readWritten(answers.behind);
  learn(lease, session, mark, doubts, isUnsure);
  if (mark !== undefined) session.noteSeen(mark, systemClock.now());
  return unwrap(answers.result);
}

function learn(
  { host, need }: Lease,
  session: Session,
  mark: Mark | undefined,
  doubts: number,
  isUnsure: boolean,
): void {
  if (mark === undefined) return;
  const wanted = need?.mark;
  if (wanted !== undefined && isBefore(mark, wanted)) throw new BehindError(host, mark);
  if (isUnsure && wanted === undefined) session.settle(mark, doubts, systemClock.now());
  if (wanted !== undefined) session.confirm(wanted);
}

function noteCapture<T>(
  { split, lease, session, statement }: Sending<T>,
  { result, behind }: Piped<T>,
  doubts: number,
): void {
  const now = systemClock.now();
  const mark = readWritten(behind);
  const isRolledBack = statement.response?.command === 'ROLLBACK';
  if (mark === undefined) {
    if (!isRolledBack) doubtAll(split, session);
    return;
  }

  session.noteSeen(mark, now);
  if (isRolledBack) return;
  // What fails as one statement, or as a COMMIT, has changed nothing; a procedure, or one of several
  // statements, may have committed before.
  const mayHaveCommitted = statement.method === 'raw' || statement.method === undefined;
  if (result?.status === 'fulfilled' || (mayHaveCommitted && !lease.isTransaction)) {
    session.settle(mark, doubts, now);
    // Whoever commits the transaction of another session knows of it, too.
    const here = sessionOf(split.state);
    if (here !== session) here.noteWritten(mark, now);
  }
}

/** Asks a primary how far it has written; undefined where it does not say. */
export async function askWritten(host: Host, connection: Connection): Promise<Answer | undefined> {
  if (isResting(host)) return undefined;
  const asked = await ask(connection, WRITTEN);
  noteRefusal(host, rejected(asked));
  return fulfilled(asked);
}

function askBehind<T>(
  { lease, statement, send, canShare }: Sending<T>,
  connection: Connection,
): Promise<Piped<T>> {
  return piped(connection, send, {
    text: sentText(statement),
    behind: WRITTEN,
    canShare,
    isOurs: () => !lease.isReleased,
  });
}

function noteAnswers<T>(
  { split, lease }: Sending<T>,
  connection: Connection,
  { isBusy, refusal }: Piped<T>,
): void {
  if (isBusy) split.sessionChanges.spoil(connection);
  noteRefusal(lease.host, refusal);
}

function noteRefusal(host: Host, refusal: unknown): void {
  if (isLacking(refusal)) restUntil.set(host, systemClock.now() + REST_MILLIS);
}

function isResting(host: Host): boolean {
  return systemClock.now() < (restUntil.get(host) ?? Number.NEGATIVE_INFINITY);
}

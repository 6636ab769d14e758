import { systemClock } from '../clock.ts';
import type { Answer } from '../consistency/questions.ts';
import {
  readLsn,
  readTimeline,
  REPLAYED,
  REPLAYED_ON,
  REPLAYED_ON_RECEIVED,
} from '../consistency/questions.ts';
import { asError } from '../errors.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { serverFacts } from '../hosts/server-facts.ts';
import { BehindError } from '../routing/behind-error.ts';
import type { Need } from '../routing/need.ts';
import { ask } from './question.ts';
import type { Sending } from './sending.ts';
import { sentText } from './sending.ts';
import { countRead } from './count-read.ts';
import { isLacking } from './lacks.ts';
import { piped } from './piped.ts';
import { fulfilled, rejected, unwrap } from './settled.ts';
import type { RWSplit } from './rw-split.ts';

// Replicas whose servers keep their control file to themselves.
const withoutControlFile = new WeakSet<Host>();

/**
 * Reads on a replica that has what the read needs, as is known, or as a check says that travels with it.
 *
 * @throws {BehindError} when it has not, or nothing shows that it has.
 */
export function readOnReplica<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { need, host } = sending.lease;
  if (need === undefined) {
    countRead(sending.split, host, 'free');
    return seenOnReplica(sending, connection);
  }
  if (need.on(connection) !== 'fresh') return checked(sending, connection, need);

  countRead(sending.split, host, 'fresh');
  sending.session.confirm(need.mark);
  return seenOnReplica(sending, connection);
}

/** Sends a statement to a replica, and has a monotonic session know what it may have seen. */
export function seenOnReplica<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { session, send } = sending;
  return session.settings.monotonic ? seen(sending, connection) : send(connection);
}

/** Asks a replica whether it has what a read needs, before anything is sent. */
export async function isFresh(
  sending: Pick<Sending<unknown>, 'split' | 'lease' | 'session'>,
  need: Need,
): Promise<boolean> {
  const { split, lease, session } = sending;
  const { host, connection } = lease;
  if (need.on(connection) === 'fresh') {
    countRead(split, host, 'fresh');
    return true;
  }
  const question = questionFor(host, need.isOnTimeline(connection));
  const asked = await ask(connection, question);
  const answer = fulfilled(asked);
  learn(split, host, connection, answer, rejected(asked));
  if (!judge(sending, connection, need, answer)) return false;
  countRead(split, host, 'checked');
  session.confirm(need.mark);
  return true;
}

async function seen<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { split, lease, statement, send, canShare } = sending;
  const behind = questionFor(lease.host, timelineOf(split, connection) !== undefined);
  const answers = await piped(connection, send, {
    text: sentText(statement),
    behind,
    canShare,
    isOurs: () => !lease.isReleased,
  });
  if (answers.isBusy) split.sessionChanges.spoil(connection);
  noteSeen(sending, connection, answers.behind, answers.refusal);
  return unwrap(answers.result);
}

async function checked<T>(sending: Sending<T>, connection: Connection, need: Need): Promise<T> {
  const { split, lease, session, statement, send, canShare } = sending;
  const { host } = lease;
  if (need.on(connection) === 'behind') throw new BehindError(host);
  const isOnTimeline = need.isOnTimeline(connection);
  const answers = await piped(connection, send, {
    text: sentText(statement),
    before: questionFor(host, isOnTimeline),
    behind: session.settings.monotonic ? questionFor(host, isOnTimeline) : undefined,
    canShare,
    isOurs: () => !lease.isReleased,
    mayGoOn(answer) {
      learn(split, host, connection, answer, undefined);
      return isMet(split, connection, need, answer);
    },
  });
  const { before, result, behind, refusal, isBusy } = answers;
  learn(split, host, connection, before, refusal);
  if (isBusy) split.abandon(connection);
  if (before === undefined && !isAnswered(connection, refusal)) {
    // The connection was lost: that is for the retry to judge.
    throw result?.status === 'rejected' ? result.reason : asError(refusal);
  }
  if (!judge(sending, connection, need, before)) throw new BehindError(host);

  countRead(split, host, 'checked');
  session.confirm(need.mark);
  if (session.settings.monotonic) noteSeen(sending, connection, behind, refusal);
  return unwrap(result);
}

// The server itself refused the question, and goes on.
function isAnswered(connection: Connection, refusal: unknown): boolean {
  const isServers = typeof refusal === 'object' && refusal !== null && 'severity' in refusal;
  return isServers && serverFacts(connection)?.isEnded !== true;
}

// By this very answer: what others have learnt meanwhile is of a later moment than the read.
function isMet(
  split: RWSplit,
  connection: Connection,
  need: Need,
  answer: Answer | undefined,
): boolean {
  const lsn = readLsn(answer);
  const timeline = readTimeline(answer) ?? timelineOf(split, connection);
  return lsn !== undefined && timeline !== undefined && need.isMetBy({ timeline, lsn });
}

function judge(
  { split, lease: { host }, session }: Pick<Sending<unknown>, 'split' | 'lease' | 'session'>,
  connection: Connection,
  need: Need,
  answer: Answer | undefined,
): boolean {
  if (isMet(split, connection, need, answer)) {
    host.catchUp.noteReached(need.ageMillis);
    return true;
  }
  host.consistency.stale++;
  // Of a position that a token alone tells of nobody knows whether it can be reached at all.
  if (!session.isGiven) host.catchUp.noteBehind(need.ageMillis, systemClock.now());
  return false;
}

function noteSeen<T>(
  { split, lease, session }: Sending<T>,
  connection: Connection,
  answer: Answer | undefined,
  refusal: unknown,
): void {
  learn(split, lease.host, connection, answer, refusal);
  const lsn = readLsn(answer);
  const timeline = timelineOf(split, connection);
  // Without a position there is nothing that the next read could be held to.
  if (lsn === undefined || timeline === undefined) session.doubt();
  else session.noteSeen({ timeline, lsn }, systemClock.now());
}

function learn(
  { cluster }: RWSplit,
  host: Host,
  connection: Connection,
  answer: Answer | undefined,
  refusal: unknown,
): void {
  if (isLacking(refusal)) withoutControlFile.add(host);
  cluster.positions.note(serverFacts(connection)?.server, readTimeline(answer), readLsn(answer));
}

function timelineOf({ cluster }: RWSplit, connection: Connection): number | undefined {
  const server = serverFacts(connection)?.server;
  return server === undefined ? undefined : cluster.positions.timelineOf(server);
}

function questionFor(host: Host, isTimelineKnown: boolean): string {
  if (isTimelineKnown) return REPLAYED;
  return withoutControlFile.has(host) ? REPLAYED_ON_RECEIVED : REPLAYED_ON;
}

import type { Connection } from '../hosts/host.ts';
import type { Lease } from '../routing/lease.ts';
import { isWrite } from '../routing/uncaptured.ts';
import { captured, readOnPrimary, seenOnPrimary } from './captures.ts';
import { readOnReplica, seenOnReplica } from './checks.ts';
import { doubtAll, sendAndDoubt } from './doubts.ts';
import type { CompiledStatement } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import type { Sending } from './sending.ts';
import { sentText } from './sending.ts';
import type { Send } from './statement.ts';

/**
 * Sends statements so that their session reads what it wrote: captures the position of a write
 * behind it, and asks a replica before a read whether it has what the read needs.
 *
 * What needs none of it is sent as it is.
 *
 * @param isStream whether the statement keeps a portal open, which can share no round trip.
 */
export function consistentSend<T>(
  split: RWSplit,
  lease: Lease,
  statement: CompiledStatement,
  send: Send<T>,
  isStream = false,
): Send<T> {
  const { session } = lease;
  // Knex refuses an empty statement by itself.
  if (session === undefined || statement.sql === '') return send;
  if (!lease.isTracked && !lease.isTransaction && !lease.isTaken) return send;

  return (connection) => {
    const canShare = !isStream && isPlain(statement);
    const sending = { split, lease, session, statement, send, isStream, canShare };
    if (lease.isTransaction) return inTransaction(sending, connection);
    // It may be in a transaction of the application's own, where a question could do harm.
    if (lease.isTaken) return sendAndDoubt(sending, connection);
    if (isWrite(lease)) {
      if (lease.hostRole !== 'primary') return send(connection);
      // The rows of a stream are read before the position is known.
      if (isStream) doubtAll(split, session);
      return captured(sending, connection);
    }
    // What a stream shows is seen before its end is.
    if (isStream && session.settings.monotonic) session.doubt();
    if (lease.hostRole === 'primary') return readOnPrimary(sending, connection);
    return readOnReplica(sending, connection);
  };
}

const COMMIT = /^\s*(?:commit|end)\b/i;
const ROLLBACK = /^\s*(?:rollback|abort)\b(?!\s+(?:work\s+|transaction\s+)?to\b)/i;

// Raw text that may end a transaction, or let one write that was to read.
const MAY_MATTER =
  /\b(?:commit|end|rollback|abort|prepare\s+transaction|read\s+write|transaction_read_only)\b/i;

// Nothing of a transaction counts before it is committed.
function inTransaction<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { lease, session, statement, send } = sending;
  const text = sentText(statement);
  const isEnd = COMMIT.test(text) || ROLLBACK.test(text);
  if (!isEnd) noteSeeing(sending);
  // Where raw text ends it, what comes then is in no transaction.
  const mayMatter = statement.method === 'raw' && MAY_MATTER.test(text);
  if (mayMatter) lease.mayHaveWritten = true;
  if (!isEnd) return mayMatter ? sendAndDoubt(sending, connection) : send(connection);

  const isCommit = COMMIT.test(text);
  if (!lease.isTracked)
    return isCommit ? sendAndDoubt(sending, connection) : sendEnd(sending, connection);
  if (lease.hostRole !== 'primary') return seenOnReplica(sending, connection);
  // One that only reads has seen something, and written nothing.
  if (!isWrite(lease)) return seenOnPrimary(sending, connection);
  if (isCommit || session.settings.monotonic) return captured(sending, connection);
  return sendEnd(sending, connection);
}

// What a transaction sees, a read beside it must see, too; up to where that is, shows at its end.
function noteSeeing<T>({ lease, session }: Sending<T>): void {
  if (lease.isSeen || !lease.isTracked || !session.settings.monotonic) return;
  lease.isSeen = true;
  session.doubt();
}

function sendEnd<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { lease, send } = sending;
  if (lease.mayHaveWritten) return sendAndDoubt(sending, connection);
  lease.isSettled = true;
  return send(connection);
}

// COPY ends the exchange of messages that others could share, and so does a portal of some rows.
function isPlain({ sql, options, method }: CompiledStatement): boolean {
  if (options !== undefined && 'rows' in options) return false;
  const isBuilt = method !== undefined && method !== 'raw';
  return isBuilt || !/\bcopy\b/i.test(sql);
}

import type { Session } from '../consistency/session.ts';
import type { Connection } from '../hosts/host.ts';
import { isWrite } from '../routing/uncaptured.ts';
import type { Lease } from '../routing/lease.ts';
import { captured, readOnPrimary, seenOnPrimary } from './captures.ts';
import { readOnReplica, seenOnReplica } from './checks.ts';
import type { CompiledStatement } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';
import { textOf } from './statement-text.ts';

/** A statement of a session, and how it is sent. */
export interface Sending<T> {
  readonly split: RWSplit;
  readonly lease: Lease;
  readonly session: Session;
  readonly statement: CompiledStatement;
  readonly send: Send<T>;
  /** Whether something else may be on the way at once with it. */
  readonly canShare: boolean;
}

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
  if (session === undefined || (!lease.isTracked && !lease.isTransaction)) return send;

  return (connection) => {
    const canShare = !isStream && isPlain(statement);
    const sending = { split, lease, session, statement, send, canShare };
    if (lease.isTransaction) return inTransaction(sending, connection);
    if (isWrite(lease)) {
      if (lease.hostRole !== 'primary') return send(connection);
      // The rows of a stream are read before the position is known.
      if (isStream) session.doubt();
      return captured(sending, connection);
    }
    if (lease.hostRole === 'primary') return readOnPrimary(sending, connection);
    return readOnReplica(sending, connection);
  };
}

const COMMIT = /^\s*(?:commit|end)\b/i;
const ROLLBACK = /^\s*(?:rollback|abort)\b(?!\s+(?:work\s+|transaction\s+)?to\b)/i;
const MAY_COMMIT = /\b(?:commit|prepare\s+transaction)\b|(?:^|;)\s*end\b/i;

// Nothing of a transaction counts before it is committed.
function inTransaction<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { lease, session, statement, send } = sending;
  const text = textOf(statement);
  const isEnd = COMMIT.test(text) || ROLLBACK.test(text);
  if (!isEnd && (statement.method !== 'raw' || !MAY_COMMIT.test(text))) return send(connection);
  // Where raw text ends it, what comes then is in no transaction.
  if (statement.method === 'raw') lease.mayHaveWritten = true;
  if (!isEnd) return sendAndDoubt(sending, connection);

  if (!lease.isTracked)
    return COMMIT.test(text) ? sendAndDoubt(sending, connection) : sendEnd(sending, connection);
  if (lease.hostRole !== 'primary') return seenOnReplica(sending, connection);
  // One that only reads has seen something, and written nothing.
  if (!isWrite(lease)) return seenOnPrimary(sending, connection);
  if (COMMIT.test(text) || session.settings.monotonic) return captured(sending, connection);
  return sendEnd(sending, connection);
}

function sendEnd<T>(sending: Sending<T>, connection: Connection): Promise<T> {
  const { lease, send } = sending;
  if (lease.mayHaveWritten) return sendAndDoubt(sending, connection);
  lease.isSettled = true;
  return send(connection);
}

async function sendAndDoubt<T>(
  { lease, session, send }: Sending<T>,
  connection: Connection,
): Promise<T> {
  try {
    return await send(connection);
  } finally {
    if (lease.hostRole === 'primary' && isWrite(lease)) session.doubt();
    lease.isSettled = true;
  }
}

// COPY ends the exchange of messages that others could share, and so does a portal of some rows.
function isPlain({ sql, options, method }: CompiledStatement): boolean {
  if (options !== undefined && 'rows' in options) return false;
  const isBuilt = method !== undefined && method !== 'raw';
  return isBuilt || !/\bcopy\b/i.test(sql);
}

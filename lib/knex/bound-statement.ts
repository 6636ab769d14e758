import { connectionState } from '../hosts/connection-state.ts';
import type { Connection } from '../hosts/host.ts';
import type { Lease } from '../routing/lease.ts';
import { assertInState } from './assert-in-state.ts';
import type { CompiledStatement, Executable, PgClient } from './internals.ts';
import { assertLockable } from './lock-connection.ts';
import type { RWSplit } from './rw-split.ts';
import { noteSessionEffect } from './session-effect.ts';
import { mayChangeMore, textOf } from './statement-text.ts';

/**
 * Notes what a statement does to the session it runs on, where that session was chosen before:
 * in a transaction, or on a connection that the application holds.
 *
 * @returns a promise only where the text has to be read.
 * @throws {SessionStateError} in surroundings that want another state than the connection has, or for
 *   what a pooler in between can't do.
 */
export function noteBoundStatement(
  split: RWSplit,
  connection: Connection,
  statement: CompiledStatement,
  client: PgClient,
  builder: Executable,
): Promise<void> | undefined {
  assertInState(split, connection, client, builder);
  const { method } = statement;
  const sql = textOf(statement);
  // A schema builder's statements have no method.
  if (method === undefined) noteCatalogChange(split, connection);
  if (!mayChangeMore(method, sql)) return undefined;
  if (client.transacting !== true) assertLockable(split, connection, sql);
  return readAndNote(split, connection, sql);
}

/** The outcome of a statement, once it is noted what the statement did to its session. */
export function onceNoted(
  sent: Promise<unknown>,
  noted: Promise<void> | undefined,
  split: RWSplit,
  lease: Lease | undefined,
): Promise<unknown> {
  const isDone = noted === undefined && lease?.isTaken !== true;
  return isDone ? sent : whenNoted(sent, noted, split, lease);
}

async function whenNoted(
  ...[sent, noted, split, lease]: Parameters<typeof onceNoted>
): Promise<unknown> {
  try {
    return await sent;
  } finally {
    await noted;
    if (lease !== undefined) noteHeldChange(split, lease);
  }
}

/** Has others see at once what may have changed on a connection that the application holds. */
export function noteHeldChange(split: RWSplit, lease: Lease): void {
  if (!lease.isTaken || !lease.changesCatalog) return;
  split.forgetCatalog();
  // In an open transaction it is yet to come.
  lease.changesCatalog = connectionState(lease.connection) !== 'ready';
}

async function readAndNote(split: RWSplit, connection: Connection, sql: string): Promise<void> {
  const verdict = await split.intents.inspect(sql);
  const { lockUse, changesCatalog } = verdict;
  noteSessionEffect(split, connection, verdict, sql);
  if (changesCatalog) noteCatalogChange(split, connection);

  const lease = split.dispatcher.leaseOf(connection);
  if (lease !== undefined && lockUse === 'lock') lease.mayHoldLocks = true;
}

// Others see it when the transaction commits; a connection held by hand may never say.
function noteCatalogChange(split: RWSplit, connection: Connection): void {
  const lease = split.dispatcher.leaseOf(connection);
  if (lease === undefined) split.forgetCatalog();
  else lease.changesCatalog = true;
}

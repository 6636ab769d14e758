import type { Connection } from '../hosts/host.ts';
import type { CompiledStatement } from './internals.ts';
import { textOf } from './request.ts';
import type { RWSplit } from './rw-split.ts';
import { noteSessionEffect } from './session-effect.ts';

// Raw text without any of these words leaves nothing behind on its session and changes no schema.
const MAY_MATTER =
  /\b(?:set|reset|listen|unlisten|load|discard|prepare|deallocate|declare|temp|temporary|do|call|create|alter|drop|grant|revoke|comment|set_config|pg_(?:try_)?advisory_\w+)\b/i;
const HAS_SESSION_EFFECT = /set_config|advisory/i;

/**
 * Notes what a statement does to the session it runs on, where that session was chosen before:
 * in a transaction, or on a connection that the application holds.
 *
 * @returns a promise only where the text has to be read.
 */
export function noteBoundStatement(
  split: RWSplit,
  connection: Connection,
  statement: CompiledStatement,
): Promise<void> | undefined {
  const { method } = statement;
  const sql = textOf(statement);
  // A schema builder's statements have no method.
  if (method === undefined) noteCatalogChange(split, connection);
  const mayMatter = (method === 'raw' ? MAY_MATTER : HAS_SESSION_EFFECT).test(sql);
  return mayMatter ? readAndNote(split, connection, sql) : undefined;
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
  if (lease === undefined) split.intents.forget();
  else lease.changesCatalog = true;
}

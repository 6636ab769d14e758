import type { Change } from './known-state.ts';
import { ISOLATION } from './isolation.ts';

/**
 * How a change of state travels with a statement: in one `batch` with it, which fails as a whole;
 * committed `ahead` of it in the same packet; or `alone`, confirmed before the statement is sent.
 */
export type Carriage = 'batch' | 'ahead' | 'alone';

// What runs in a transaction with others, whatever it is, and controls none itself.
const QUERY = /^[\s(]*(?:select|insert|update|delete|merge|with|values|table)\b/i;

// Fails harmlessly, or opens a transaction that nothing else has reached yet.
const BEGIN = /^\s*(?:begin|start\s+transaction)\b[^;]*;?\s*$/i;

// A nested comment ends the match early, and its statement travels alone.
const COMMENTS = /^(?:\s+|--[^\n\r]*(?:[\n\r]|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)+/;

// These take effect with the next transaction, which the batch is not.
const OF_NEXT_TRANSACTION = /^(?:default_transaction_|transaction_timeout$)/;

/** Decides how changes travel with a text; undefined stands for a text that is not known. */
export function carriageOf(text: string | undefined, changes: readonly Change[]): Carriage {
  // A replica runs nothing in that isolation, a change of it included: it has to be left first.
  if (text === undefined || changes.some(({ name }) => name === ISOLATION)) return 'alone';
  const bare = text.replace(COMMENTS, '');
  if (BEGIN.test(bare)) return 'ahead';
  if (!QUERY.test(bare) || changes.some(({ name }) => OF_NEXT_TRANSACTION.test(name)))
    return 'alone';
  return isSingle(bare) ? 'batch' : 'alone';
}

// A semicolon in a literal makes it travel alone, which costs a round trip and nothing else.
function isSingle(text: string): boolean {
  const end = text.indexOf(';');
  return end === -1 || text.slice(end + 1).trim() === '';
}

import { judgeStatementError } from '../routing/failure.ts';
import type { Lease } from '../routing/lease.ts';
import type { CompiledStatement } from './internals.ts';
import { textOf } from './statement-text.ts';

const ROLLBACK = /^\s*rollback\b(?!\s+to\b)/i;

/**
 * Whether a transaction is rolled back although its ROLLBACK failed: a server does that by itself
 * when the connection is lost.
 *
 * Knex would tell of the ROLLBACK's error instead of what the connection was lost by.
 */
export function isRolledBack(lease: Lease, statement: CompiledStatement, error: unknown): boolean {
  return (
    lease.isTransaction &&
    ROLLBACK.test(textOf(statement)) &&
    judgeStatementError(error, lease.hostRole).isConnectionLost
  );
}

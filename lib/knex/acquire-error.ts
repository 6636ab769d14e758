import { asError, ConfigError, ReadOnlyHostError } from '../errors.ts';
import { PoolFullError } from '../routing/pool-full.ts';
import { BudgetUsedUpError } from '../routing/budget-used-up.ts';
import type { KnexClasses, PgClient } from './internals.ts';

/**
 * Makes of an error in the search of a connection what applications know from Knex: its warning,
 * and its own error where a pool is full.
 */
export function asKnexError(
  error: unknown,
  client: PgClient,
  TimeoutError: KnexClasses['KnexTimeoutError'],
): Error {
  // Those are about the query; no connection was asked for.
  if (error instanceof ReadOnlyHostError || error instanceof ConfigError) return error;
  const { stack, message } = asError(error);
  client.logger.warn?.(`Acquire connection error: ${stack ?? message}`);
  if (error instanceof BudgetUsedUpError) {
    const text = `Knex: Timeout acquiring a connection: ${error.message}`;
    return Object.assign(new TimeoutError(text), { cause: error });
  }
  if (!(error instanceof PoolFullError)) return asError(error);

  return Object.assign(
    new TimeoutError(
      `Knex: Timeout acquiring a connection. The pool is probably full. Are you missing a .transacting(trx) call? (${error.message})`,
    ),
    { cause: error },
  );
}

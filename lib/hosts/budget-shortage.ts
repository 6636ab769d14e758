import type { HostPool } from './pool.ts';
import type { ServerBudget } from './server-budget.ts';

// More than these are no help to whoever reads the error.
const MOST_HOLDERS = 5;

const shortages = new WeakMap<object, string>();
const budgets = new WeakMap<object, ServerBudget>();

/** Notes that an acquire failed because the budget of its server was used up all the time. */
export function noteShortage(error: Error, budget: ServerBudget): void {
  const { address, max, holders } = budget;
  const shown = holders.slice(0, MOST_HOLDERS).map(([label, count]) => `${label}: ${count}`);
  const left = holders.length - shown.length;
  if (left > 0) shown.push(`${left} more`);
  shortages.set(
    error,
    `the connections of this process to ${address} are used up: rwSplit.maxPerServer is ${max}, ` +
      `one of them the probe's (${shown.join('; ')})`,
  );
}

/** What an acquire lacked that failed for want of a server's budget; undefined where that was not why. */
export function shortageOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? shortages.get(error) : undefined;
}

/** Notes which budget a pool takes part in. */
export function noteBudget<C extends object>(pool: HostPool<C>, budget: ServerBudget): void {
  budgets.set(pool, budget);
}

/** The budget that a pool takes part in; undefined without one. */
export function budgetOf<C extends object>(pool: HostPool<C>): ServerBudget | undefined {
  return budgets.get(pool);
}

import type { Knex } from 'knex';
import { rwSplit, type RouteEvent } from 'knex-rwsplit';
import type { Task } from './shop.ts';

const mostRounds = 50;

/**
 * Runs every task once before anything is counted, and again while the catalog is slow to answer.
 *
 * The first sight of a table or function asks the database what it is. An answer that takes more
 * than 200 ms is not waited for: that one run goes to the primary, as on a busy machine at start.
 */
export async function openShop(db: Knex, tasks: readonly Task[]): Promise<void> {
  let unanswered = 0;
  const count = ({ reason }: RouteEvent): void => {
    if (reason.includes('the catalog did not answer')) unanswered++;
  };
  rwSplit(db).on('route', count);
  for (let round = 1; round === 1 || (unanswered > 0 && round <= mostRounds); round++) {
    unanswered = 0;
    for (const task of tasks) await task(db);
  }
  rwSplit(db).off('route', count);
}

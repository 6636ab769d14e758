import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { rwSplit, type RouteEvent } from 'knex-rwsplit';
import type { Task } from './shop.ts';

const patienceMillis = 30_000;

/**
 * Runs every task once before anything is counted, and again while the catalog is slow to answer.
 *
 * The first sight of a table or function asks the database what it is. An answer that takes more
 * than 200 ms is not waited for: that run goes to the primary, as may happen on a busy machine.
 */
export async function openShop(db: Knex, tasks: readonly Task[]): Promise<void> {
  let unanswered = 0;
  const count = ({ reason }: RouteEvent): void => {
    if (reason.includes('the catalog did not answer')) unanswered++;
  };
  rwSplit(db).on('route', count);

  const end = Date.now() + patienceMillis;
  do {
    unanswered = 0;
    for (const task of tasks) await task(db);
    if (unanswered > 0) await delay(250);
  } while (unanswered > 0 && Date.now() < end);
  rwSplit(db).off('route', count);
}

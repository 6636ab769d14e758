import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Books, TaskKind } from './books.ts';
import { currentReads, longReads, reads, type Task, transactions, writes } from './shop.ts';
import { traps } from './traps.ts';

interface Job {
  readonly kind: TaskKind;
  readonly task: Task;
}

const looking = [...jobs('read', reads), ...jobs('long read', longReads)];
const buying = [...jobs('write', writes), ...jobs('transaction', transactions)];
// A trap now and then, in an ordinary day.
const anything = [
  ...[...looking, ...buying, ...jobs('read', currentReads)].flatMap((job) => [job, job]),
  ...jobs('write', traps),
];

// Half of them only look: they go on while there is nobody to write to.
const customers = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? looking : anything));

/** Everything that customers ask for. */
export const tasks: readonly Task[] = anything.map(({ task }) => task);

/** Serves customers, all at once, until the day ends. */
export async function serveCustomers(db: Knex, books: Books, day: Promise<unknown>): Promise<void> {
  const closing = new AbortController();
  const close = (): void => closing.abort();
  void day.then(close, close);
  await Promise.all(customers.map((work) => serve(db, books, work, closing.signal)));
}

async function serve(
  db: Knex,
  books: Books,
  work: readonly Job[],
  closing: AbortSignal,
): Promise<void> {
  while (!closing.aborted) {
    const job = work[Math.floor(Math.random() * work.length)];
    if (job !== undefined) await books.enter(job.kind, () => job.task(db));
    await delay(2);
  }
}

function jobs(kind: TaskKind, ofKind: readonly Task[]): Job[] {
  return ofKind.map((task) => ({ kind, task }));
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { everyday } from './shop.ts';
import { traps } from './traps.ts';

const customers = 8;

/** Serves customers, all at once, until the time comes. */
export async function serveCustomers(db: Knex, end: number): Promise<void> {
  await Promise.all(Array.from({ length: customers }, (_, number) => serve(db, number, end)));
}

async function serve(db: Knex, number: number, end: number): Promise<void> {
  for (let turn = number; Date.now() < end; turn++) {
    // A trap now and then, in an ordinary day.
    const tasks = turn % 4 === 0 ? traps : everyday;
    await tasks[Math.floor(Math.random() * tasks.length)]?.(db);
    await delay(2);
  }
}

import type { KnexClasses, KnexTask, PgClient } from './internals.ts';
import { inScope } from './scope.ts';
import { stateOf } from './split-state.ts';

const PATCHED: unique symbol = Symbol('knex-rwsplit.patched');

type Method = (this: { knex?: { client?: unknown } }, ...args: unknown[]) => unknown;

/**
 * Makes migrations and seeds of splitting clients run where writes go, reads included.
 *
 * A migration reads what it has just written, and a replica that is behind makes Knex write a
 * second lock row. Knex offers no hook around a migration or seed, so the public methods of its
 * migrator and seeder are wrapped, once for each copy of Knex; other clients' pass straight through.
 */
export function routeTasks({ Migrator, Seeder }: KnexClasses): void {
  for (const task of [Migrator, Seeder]) wrapMethods(task);
}

function wrapMethods({ prototype }: KnexTask): void {
  if (Object.hasOwn(prototype, PATCHED)) return;
  Object.defineProperty(prototype, PATCHED, { value: true });

  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method: unknown = Reflect.get(prototype, name);
    if (name === 'constructor' || name.startsWith('_') || typeof method !== 'function') continue;
    Object.defineProperty(prototype, name, {
      value: inTask(method as Method),
      writable: true,
      configurable: true,
    });
  }
}

function inTask(method: Method): Method {
  return function (...args) {
    const client = this.knex?.client as PgClient | undefined;
    const splits = client?.config !== undefined && stateOf(client) !== undefined;
    if (!splits) return method.apply(this, args);
    return inScope({ isTask: true }, () => method.apply(this, args));
  };
}

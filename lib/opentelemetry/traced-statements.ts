import type { TracedRoute } from './route-attributes.ts';

/**
 * The routes of statements that are on the way to the driver, by their list of bindings: all that
 * an event of Knex shares with what the driver's instrumentation sees.
 */
export const tracedStatements: WeakMap<readonly unknown[], TracedRoute> = new WeakMap();

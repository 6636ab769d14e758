import type { Knex } from 'knex';
import { clientOf } from '../../lib/knex/internals.ts';
import { splitOf } from '../../lib/knex/split-state.ts';

/** How often connections were taken from the pools of an instance, and given back. */
export interface PoolEvents {
  acquired: number;
  released: number;
}

/** Counts the events of all pools of an instance that splits. */
export function countPoolEvents(db: Knex): PoolEvents {
  const events: PoolEvents = { acquired: 0, released: 0 };
  for (const { pool } of splitOf(clientOf(db))?.cluster.hosts ?? []) {
    pool.on('acquireSuccess', () => events.acquired++);
    pool.on('release', () => events.released++);
  }
  return events;
}

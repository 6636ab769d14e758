import { EventEmitter } from 'events';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { ConfigError } from '../errors.ts';
import type { WantedState } from '../state/wanted-state.ts';
import type { PgClient } from './internals.ts';
import { clientOf, contextOf, instanceOf } from './internals.ts';
import type { SplitState } from './split-state.ts';
import { rememberingBatchInsert, rememberingMakers } from './state-of-builder.ts';
import { inWanted, ownWanted, wanting } from './wanted.ts';

// How many instances of one client are kept for the next request of a tenant.
const MAX_INSTANCES = 2000;

const EVENTS = ['start', 'query', 'query-error', 'query-response'] as const;

const derived = new WeakMap<SplitState, LRUCache<string, Knex>>();

// What stands for an instance that others are made from: of those that are gone, nothing is kept.
const numbers = new WeakMap<Knex, number>();
let count = 0;

/**
 * The instance over the same pools whose statements run in a state; the same one for an equal state,
 * as long as it is remembered.
 *
 * What it emits, the listeners of `db` hear, too.
 *
 * @throws {ConfigError} for a transaction, which has the state that it began in.
 */
export function derivedInstance(db: Knex, state: SplitState, wanted: WantedState): Knex {
  if (db.isTransaction === true) {
    throw new ConfigError(
      'withState',
      'A transaction has the session state that it began in; begin it with withState(state).transaction(), or use SET LOCAL.',
    );
  }
  let known = derived.get(state);
  if (known === undefined) {
    known = new LRUCache({ max: MAX_INSTANCES });
    derived.set(state, known);
  }
  const key = `${numberOf(db)} ${wanted.number}`;
  const found = known.get(key);
  if (found !== undefined) return found;

  const made = derive(db, state, wanted);
  known.set(key, made);
  return made;
}

function numberOf(db: Knex): number {
  const known = numbers.get(db);
  if (known !== undefined) return known;
  numbers.set(db, ++count);
  return count;
}

function derive(db: Knex, state: SplitState, wanted: WantedState): Knex {
  const parent = clientOf(db);
  const own = ownWanted(parent)?.with(wanted) ?? wanted;
  const instance = instanceOf(derivedClient(parent, state, own), state.makeKnex);
  instance.userParams = db.userParams;
  // Migrations and seeds run on clones.
  const context = contextOf(instance);
  context.batchInsert = rememberingBatchInsert(context.batchInsert, own);
  context.withUserParams = (params) => {
    const clone = inState(db.withUserParams(params), own);
    for (const event of EVENTS) {
      for (const listener of instance.listeners(event)) clone.on(event, listener as () => void);
    }
    return clone;
  };
  return instance;
}

// What Knex makes of a client for a clone has nothing of what only this package knows.
function inState(clone: Knex, wanted: WantedState): Knex {
  const client = clientOf(clone);
  client.config = wanting(client.config, wanted);
  Object.defineProperties(client, rememberingMakers(client, wanted));
  const context = contextOf(clone);
  context.batchInsert = rememberingBatchInsert(context.batchInsert, wanted);
  const { withUserParams } = context;
  context.withUserParams = (params) =>
    inState(Reflect.apply(withUserParams, context, [params]), wanted);
  return clone;
}

function derivedClient(parent: PgClient, state: SplitState, wanted: WantedState): PgClient {
  const client = Object.create(parent) as PgClient;
  const emit = (event: string, ...args: unknown[]): boolean => {
    const isHeard = EventEmitter.prototype.emit.call(client, event, ...args);
    return parent.emit(event, ...args) || isHeard;
  };
  Object.defineProperties(client, {
    ...rememberingMakers(parent, wanted),
    config: { value: wanting(parent.config, wanted), writable: true, enumerable: true },
    emit: { value: emit },
    destroy: { value: refuseToDestroy },
    pool: { get: () => wantingPool(parent.pool, state, wanted) },
    initializePool: {
      value: () => {
        throw refusal('initialize');
      },
    },
  });
  // With listeners of its own, not the parent's.
  EventEmitter.call(client as never);
  return client;
}

// Whoever acquires from the pool by hand gets a connection in the state, too.
function wantingPool(pool: PgClient['pool'], state: SplitState, wanted: WantedState): unknown {
  if (pool === undefined) return undefined;
  const acquire = (): unknown => inWanted(state, wanted, () => pool.acquire());
  return new Proxy(pool, {
    get: (target, key) => (key === 'acquire' ? acquire : Reflect.get(target, key)),
  });
}

// As Knex does: where there is a callback, it gets the error.
function refuseToDestroy(callback?: unknown): Promise<unknown> {
  const error = refusal('destroy');
  return typeof callback === 'function'
    ? Promise.resolve(callback(error) as unknown)
    : Promise.reject(error);
}

function refusal(method: string): ConfigError {
  return new ConfigError(
    method,
    `This Knex instance, made by withState(), shares the pools of the one that it was made from; ${method}() that one.`,
  );
}

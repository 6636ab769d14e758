import type { WantedState } from '../state/wanted-state.ts';
import type { PgClient } from './internals.ts';

const STATE: unique symbol = Symbol('knex-rwsplit.state');

interface Builder {
  [STATE]?: WantedState;
  clone?(this: Builder): Builder;
}

type Build = (this: PgClient, ...args: unknown[]) => Builder;
type Use = (this: unknown, ...args: unknown[]) => unknown;

/** The methods of a client that make builders. */
const MAKERS = ['queryBuilder', 'raw', 'schemaBuilder'] as const;

/** The state that a builder was made for, whichever client it has by now. */
export function stateOfBuilder(builder: object): WantedState | undefined {
  return (builder as Builder)[STATE];
}

/**
 * What lets the builders of a client know their state: with `transacting()` they get the client of
 * the transaction, which may be in another one.
 */
export function rememberingMakers(parent: PgClient, state: WantedState): PropertyDescriptorMap {
  const remembering = (build: Build): PropertyDescriptor => ({
    value(this: PgClient, ...args: unknown[]): unknown {
      return remember(Reflect.apply(build, this, args), state);
    },
  });
  const makers = parent as unknown as Readonly<Record<(typeof MAKERS)[number], Build>>;
  return Object.fromEntries(MAKERS.map((name) => [name, remembering(makers[name])]));
}

/** Lets the rows of `batchInsert()` go into no transaction that is in another state. */
export function rememberingBatchInsert(batchInsert: Use, state: WantedState): Use {
  return function (this: unknown, ...args) {
    const inserting = Reflect.apply(batchInsert, this, args) as { transacting: Use };
    const { transacting } = inserting;
    inserting.transacting = (trx) => {
      const begin = trx as ((table: unknown) => Builder) | undefined;
      const given =
        typeof begin === 'function' && ((table: unknown) => remember(begin(table), state));
      return Reflect.apply(transacting, inserting, [given || trx]);
    };
    return inserting;
  };
}

function remember<B extends Builder>(builder: B, state: WantedState): B {
  builder[STATE] = state;
  // What Knex copies is the statement, and nothing that it does not know.
  if (builder.clone !== undefined) builder.clone = cloneWithState;
  return builder;
}

function cloneWithState(this: Builder): Builder {
  const prototype = Object.getPrototypeOf(this) as { clone: (this: Builder) => Builder };
  return remember(Reflect.apply(prototype.clone, this, []), this[STATE] as WantedState);
}

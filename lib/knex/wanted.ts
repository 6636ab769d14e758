import { OptionReader } from '../config/option-reader.ts';
import { readState } from '../config/resolve-state.ts';
import type { RWSplitSettings } from '../config/settings.ts';
import type { StateOptions } from '../config/state-options.ts';
import { ConfigError } from '../errors.ts';
import { nothingWanted, wantedState } from '../state/wanted-state.ts';
import type { WantedState } from '../state/wanted-state.ts';
import type { PgClient } from './internals.ts';
import { currentScope, inScope } from './scope.ts';
import type { SplitState } from './split-state.ts';

const WANTED: unique symbol = Symbol('knex-rwsplit.wanted');

interface WantingConfig {
  readonly [WANTED]?: WantedState | undefined;
}

/** What the options want of every session. */
export function wantedOrNothing({ state }: Pick<RWSplitSettings, 'state'>): WantedState {
  return state === undefined ? nothingWanted : wantedState(state);
}

/** Copies the config of a client, for one that wants a state; a copy of that in turn wants none. */
export function wanting<C extends object>(config: C, wanted: WantedState): C {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(config)) as C;
  return Object.defineProperty(copy, WANTED, { value: wanted, configurable: true });
}

/** What a client itself wants: one that `withState` made, its transactions and clones. */
export function ownWanted(client: PgClient): WantedState | undefined {
  return (client.config as WantingConfig)[WANTED];
}

/**
 * Reads what is to be wanted of sessions from here on.
 *
 * @throws {ConfigError} when an option can't be used as written.
 */
export function readWanted({ states }: SplitState, options: StateOptions): WantedState {
  // From JavaScript, a tenant that is missing.
  if ((options as StateOptions | undefined) === undefined) {
    throw new ConfigError('state', 'state is undefined; say what is wanted, or {} for nothing.');
  }
  const wanted = wantedState(readState(new OptionReader(options, 'state')));
  states.use();
  return wanted;
}

/** Runs `fn`, and whatever it starts, in a state within the one that is wanted already. */
export function inWanted<T>(state: SplitState, wanted: WantedState, fn: () => T): T {
  const outer = currentScope()?.wanted;
  const within = outer?.get(state);
  const inner = within === undefined ? wanted : within.with(wanted);
  return inScope({ wanted: new Map(outer).set(state, inner) }, fn);
}

/** What the surroundings of the caller want. */
export function scopeWanted(state: SplitState): WantedState | undefined {
  return currentScope()?.wanted?.get(state);
}

/**
 * What is wanted of the session of a statement: field by field by its client, by what surrounds it,
 * else by the options; undefined while nothing was ever wanted.
 */
export function wantedOf(
  state: SplitState,
  client?: PgClient,
  surrounding: WantedState | undefined = scopeWanted(state),
): WantedState | undefined {
  const { isUsed, usual } = state.states;
  if (!isUsed) return undefined;
  const outer = surrounding === undefined ? usual : usual.with(surrounding);
  const own = client === undefined ? undefined : ownWanted(client);
  return own === undefined ? outer : outer.with(own);
}

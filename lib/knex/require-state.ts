import type { Knex } from 'knex';
import { ConfigError } from '../errors.ts';
import { clientOf } from './internals.ts';
import { stateOf } from './split-state.ts';
import type { SplitState } from './split-state.ts';

/**
 * The state of a Knex instance, transaction or clone whose client splits.
 *
 * @throws {ConfigError} when its client doesn't: no RWSplitClient, or one without `rwSplit`.
 */
export function requireState(db: Knex): SplitState {
  const state = stateOf(clientOf(db));
  if (state !== undefined) return state;

  throw new ConfigError(
    'rwSplit',
    'This Knex instance splits nothing: give knex() the client RWSplitClient, and rwSplit or several hosts in the URL.',
  );
}

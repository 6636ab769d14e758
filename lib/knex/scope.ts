import { AsyncLocalStorage, AsyncResource } from 'async_hooks';
import type { Session } from '../consistency/session.ts';
import type { WantedState } from '../state/wanted-state.ts';

/** What surrounds a query, however many calls away. */
export interface Scope {
  /** `onPrimary(fn)` or `onReplica(fn)`. */
  readonly target?: 'primary' | 'replica' | undefined;
  /** A migration or seed: whatever it reads, it goes where writes go. */
  readonly isTask?: true | undefined;
  /** The session of each client that has one here, by what all its clones share. */
  readonly sessions?: ReadonlyMap<object, Session> | undefined;
  /** The session state that is wanted of each client's connections, by what all its clones share. */
  readonly wanted?: ReadonlyMap<object, WantedState> | undefined;
}

const storage = new AsyncLocalStorage<Scope | undefined>();

/** The scope that the caller runs in, if any. */
export function currentScope(): Scope | undefined {
  return storage.getStore();
}

/** Runs `fn`, and whatever it starts, in a scope within the present one. */
export function inScope<T>(scope: Scope, fn: () => T): T {
  return storage.run({ ...storage.getStore(), ...scope }, fn);
}

/** Where no request is; nothing that a process would wait for, which Jest's `--detectOpenHandles` asks. */
class Outside extends AsyncResource {
  hasRef(): boolean {
    return false;
  }
}

// Made as the module is loaded, which no request does.
const outside = new Outside('knex-rwsplit');

/**
 * Runs `fn` outside of any scope, ours or the application's.
 *
 * What outlives a request (connections, timers) must not belong to the one that happened to make it.
 */
export function outsideScopes<T>(fn: () => T): T {
  return outside.runInAsyncScope(() => storage.run(undefined, fn));
}

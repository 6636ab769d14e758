import { inScope } from './scope.ts';
import type { Scope } from './scope.ts';

/** Runs `fn`, and whatever it starts, in a scope; a builder that it returns, too. */
export function startInScope(scope: Scope, fn: () => unknown): unknown {
  return inScope(scope, () => started(fn));
}

/** Starts what `fn` returns: a builder runs when it is awaited, which is outside of the scope that it was made in. */
export function started(fn: () => unknown): unknown {
  const result = fn();
  return isPromiseLike(result) ? Promise.resolve(result.then((answer) => answer)) : result;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

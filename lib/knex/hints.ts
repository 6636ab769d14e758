import { ConfigError } from '../errors.ts';
import type { ConsistencyMode } from '../config/consistency-options.ts';
import type { Target } from '../config/options.ts';
import type { Hint } from '../routing/route.ts';
import { executable } from './internals.ts';
import type { Executable } from './internals.ts';

const HINT: unique symbol = Symbol('knex-rwsplit.hint');

interface Hinted {
  [HINT]?: Hint | undefined;
}

const targets: Record<Target, true> = {
  split: true,
  primary: true,
  replica: true,
  'prefer-replica': true,
  any: true,
};

const modes: Record<ConsistencyMode, true> = { session: true, eventual: true, strong: true };

/**
 * Sends one query to the primary: `db('t').modify(onPrimary)`, or `onPrimary(builder)` around any
 * query, raw or schema builder. The hint survives `clone()` and touches no query context.
 */
export function onPrimary<B extends object>(builder: B): B {
  return mark(builder, { target: 'primary' });
}

/**
 * Sends one query to a replica: `db('t').modify(onReplica)`, or `onReplica(builder)`.
 *
 * @throws {ReadOnlyHostError} when the query is run and is a proved write.
 */
export function onReplica<B extends object>(builder: B): B {
  return mark(builder, { target: 'replica' });
}

/**
 * Reads the hint of a builder: from `onPrimary`/`onReplica`, else from its `queryContext`.
 *
 * @throws {ConfigError} when the context's `rwSplit` isn't a hint.
 */
export function hintOf(builder: Executable): Hint | undefined {
  const hint = (holder(builder) as Hinted)[HINT];
  const context = builder.queryContext();
  if (typeof context !== 'object' || context === null || !('rwSplit' in context)) return hint;
  if (hint === undefined) return readHint(context.rwSplit);

  // Where a query runs is one thing, what it sees another.
  const { consistency } = readHint(context.rwSplit) ?? {};
  return consistency === undefined ? hint : { ...hint, consistency };
}

function mark<B extends object>(builder: B, hint: Hint): B {
  (holder(executable(builder)) as Hinted)[HINT] = hint;
  return builder;
}

// A query builder clones what it keeps in `_single`, symbols included, and nothing else of ours.
function holder(builder: Executable): object {
  return builder._single ?? builder;
}

const keys: ReadonlySet<string> = new Set(['target', 'host', 'tag', 'consistency']);

function readHint(value: unknown): Hint | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object') throw invalid('', value, 'an object');

  for (const [key, given] of Object.entries(value)) {
    if (!keys.has(key)) {
      throw invalid(`.${key}`, given, 'left out; a hint has target, host, tag and consistency');
    }
    if (given !== undefined && typeof given !== 'string')
      throw invalid(`.${key}`, given, 'a string');
    if (key === 'target' && given !== undefined && !Object.hasOwn(targets, given)) {
      throw invalid('.target', given, `one of ${Object.keys(targets).join(', ')}`);
    }
    if (key === 'consistency' && given !== undefined && !Object.hasOwn(modes, given)) {
      throw invalid('.consistency', given, `one of ${Object.keys(modes).join(', ')}`);
    }
  }
  return value;
}

function invalid(path: string, value: unknown, allowed: string): ConfigError {
  const at = `queryContext.rwSplit${path}`;
  return new ConfigError(at, `${at} is ${JSON.stringify(value)}; it must be ${allowed}.`);
}

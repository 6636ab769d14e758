import { ConfigError } from '../errors.ts';
import type { ConsistencyMode } from '../config/consistency-options.ts';
import type { Target } from '../config/options.ts';
import type { Hint } from '../routing/route.ts';
import type { Executable } from './internals.ts';
import { isKnexBuilder } from './knex-builder.ts';
import { isObjectionBuilder } from './objection-builder.ts';

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
 * query, raw or schema builder, and either with a query of Objection. The hint survives `clone()` and
 * touches no query context.
 *
 * @throws {ConfigError} when `builder` is of neither library.
 */
export function onPrimary<B extends object>(builder: B): B {
  return mark(builder, 'onPrimary');
}

/**
 * Sends one query to a replica: `db('t').modify(onReplica)`, or `onReplica(builder)`.
 *
 * @throws {ConfigError} when `builder` is of neither Knex nor Objection.
 * @throws {ReadOnlyHostError} when the query is run and is a proved write.
 */
export function onReplica<B extends object>(builder: B): B {
  return mark(builder, 'onReplica');
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

const marks = { onPrimary: { target: 'primary' }, onReplica: { target: 'replica' } } as const;

function mark<B extends object>(builder: B, name: keyof typeof marks): B {
  if (isKnexBuilder(builder)) {
    (holder(builder) as Hinted)[HINT] = marks[name];
  } else if (isObjectionBuilder(builder)) {
    builder.onBuildKnex((made) => mark(made, name));
  } else {
    throw new ConfigError(
      name,
      `${name} was given what is no builder of Knex or Objection; run it in the scope rwSplit(db).${name}(() => …).`,
    );
  }
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

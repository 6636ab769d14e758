import { SessionStateError } from '../errors.ts';
import type { Hint, RouteRequest } from '../routing/route.ts';
import { readHintComment } from '../sql/hint-comment.ts';
import type { Verdict } from '../sql/verdict.ts';
import { hintOf } from './hints.ts';
import type { CompiledStatement, Executable } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { currentScope } from './scope.ts';

/** A request, and what is known of the text behind it. */
export interface StatementRequest extends RouteRequest {
  /** Undefined where the builder tells enough, so that nothing needs to be parsed. */
  readonly verdict?: Verdict | undefined;
}

// What a builder's method says of its statement, whatever stands in it.
const METHOD_REASONS: Readonly<Record<string, string>> = {
  insert: 'is an insert',
  update: 'is an update',
  del: 'is a delete',
  truncate: 'is a truncate',
  counter: 'is an update',
};

// Raw fragments in a writing builder may do these; everything else they do is on the primary anyway.
const HAS_SESSION_EFFECT = /set_config|advisory/i;

/**
 * Says what a compiled builder needs: at once where that is known, else after a look.
 *
 * @throws {SessionStateError} when raw text opens a transaction, which a pool can't keep.
 */
export function requestOf(
  split: RWSplit,
  builder: Executable,
  compiled: CompiledStatement | readonly CompiledStatement[],
): StatementRequest | Promise<StatementRequest> {
  const hint = hintOf(builder);
  const scope = currentScope()?.target;
  if (isList(compiled)) return write('changes or reads the schema', hint, scope);

  const { method } = compiled;
  const sql = textOf(compiled);
  const reason = method === undefined ? undefined : METHOD_REASONS[method];
  if (reason !== undefined && !HAS_SESSION_EFFECT.test(sql)) {
    return write(reason, hint, scope);
  }
  // Right after DDL a replica may not have what the question is about.
  if (method === 'columnInfo') return unproved('reads the schema', hint, scope);
  // The grammar reads a backslash as PostgreSQL does by default, and not as this server does.
  if (!split.hasStandardStrings && sql.includes('\\')) {
    return unproved('cannot be judged with standard_conforming_strings off', hint, scope);
  }

  const verdict = split.intents.known(sql);
  if (verdict !== undefined) return judged(split, sql, verdict, hint, scope);
  return split.intents.resolve(sql).then((found) => judged(split, sql, found, hint, scope));
}

function judged(
  split: RWSplit,
  sql: string,
  verdict: Verdict,
  hint: Hint | undefined,
  scope: RouteRequest['scope'],
): StatementRequest {
  if (verdict.opensTransaction !== undefined) throw refuseTransaction(verdict.opensTransaction);

  const wish = hint ?? commentHint(sql);
  if (verdict.intent === 'read' && split.misroutes.has(sql)) {
    return { ...unproved('a replica refused it before', wish, scope), verdict };
  }
  const { intent, proved, reason } = verdict;
  return { intent, proved, reason, hint: wish, scope, verdict };
}

function write(
  reason: string,
  hint: Hint | undefined,
  scope: RouteRequest['scope'],
): StatementRequest {
  return { intent: 'write', proved: true, reason, hint, scope };
}

function unproved(
  reason: string,
  hint: Hint | undefined,
  scope: RouteRequest['scope'],
): StatementRequest {
  return { intent: 'write', proved: false, reason, hint, scope };
}

function commentHint(sql: string): Hint | undefined {
  const target = readHintComment(sql);
  return target === undefined ? undefined : { target };
}

function refuseTransaction(statement: string): SessionStateError {
  return new SessionStateError(
    `${statement} as raw text would open a transaction on one pooled connection, and the next query gets another; use knex.transaction().`,
  );
}

/** The text that reaches the server, in Knex's form, where `?` is a placeholder and `\\?` is not. */
export function textOf({ sql, options }: CompiledStatement): string {
  return typeof options?.text === 'string' ? options.text.replaceAll('?', String.raw`\?`) : sql;
}

/** Whether a builder compiled to several statements, as schema builders do. */
export function isList(
  compiled: CompiledStatement | readonly CompiledStatement[],
): compiled is readonly CompiledStatement[] {
  return Array.isArray(compiled);
}

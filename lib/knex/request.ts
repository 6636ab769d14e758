import { ConfigError, SessionStateError } from '../errors.ts';
import type { Hint, RouteRequest } from '../routing/route.ts';
import { hintCommentProblem, readHintComment } from '../sql/hint-comment.ts';
import type { Intent, LockUse, Verdict } from '../sql/verdict.ts';
import type { WantedState } from '../state/wanted-state.ts';
import { hintOf } from './hints.ts';
import type { CompiledStatement, Executable } from './internals.ts';
import { consistencyOf } from './needs.ts';
import type { RWSplit } from './rw-split.ts';
import { sessionOf } from './session-scope.ts';
import { currentScope } from './scope.ts';
import type { Scope } from './scope.ts';
import { mayChangeMore, textOf } from './statement-text.ts';
import { wantedOf } from './wanted.ts';

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

/** What is wished for a statement, and what surrounds it. */
interface Wish {
  readonly split: RWSplit;
  readonly hint: Hint | undefined;
  readonly scope: Scope | undefined;
  readonly state: WantedState | undefined;
}

/**
 * Says what a compiled builder needs: at once where that is known, else after a look.
 *
 * @throws {SessionStateError} when raw text opens a transaction, which a pool can't keep.
 * @throws {ConfigError} when a hint isn't one.
 */
export function requestOf(
  split: RWSplit,
  builder: Executable,
  compiled: CompiledStatement | readonly CompiledStatement[],
): StatementRequest | Promise<StatementRequest> {
  const scope = currentScope();
  const state = wantedOf(split.state, builder.client);
  if (isList(compiled)) {
    return ofList(split, compiled, { split, hint: hintOf(builder), scope, state });
  }

  const { method } = compiled;
  const sql = textOf(compiled);
  const wish = { split, hint: hintOf(builder) ?? commentHint(sql), scope, state };
  const reason = method === undefined ? undefined : METHOD_REASONS[method];
  if (reason !== undefined && !mayChangeMore(method, sql)) {
    return request('write', true, reason, wish);
  }
  // Right after DDL a replica may not have what the question is about.
  if (method === 'columnInfo') return request('write', false, 'reads the schema', wish);
  // The grammar reads a backslash as PostgreSQL does by default, and not as this server does.
  if (split.hasStandardStrings !== true && sql.includes('\\')) {
    return split.intents.inspect(sql).then((seen) => doubted(seen, wish));
  }

  const { intents } = split;
  const asks = asksCatalog(split, wish);
  const verdict = asks ? intents.known(sql, state?.catalogKey) : intents.seen(sql);
  if (verdict !== undefined) return judged(split, sql, verdict, wish);
  return (asks ? intents.resolve(sql, state?.catalogKey) : intents.inspect(sql)).then((found) =>
    judged(split, sql, found, wish),
  );
}

// What the grammar saw may be less than the server will see.
function doubted(seen: Verdict, wish: Wish): StatementRequest {
  if (seen.opensTransaction !== undefined) throw refuseTransaction(seen.opensTransaction);
  const reason = 'may mean more with standard_conforming_strings off';
  const verdict: Verdict = { ...seen, intent: 'write', proved: false, reason, isUnread: true };
  return request('write', false, reason, wish, verdict);
}

// A schema builder writes what it is told to, but `schema.raw` may be told anything.
async function ofList(
  split: RWSplit,
  compiled: readonly CompiledStatement[],
  wish: Wish,
): Promise<StatementRequest> {
  const reason = 'changes or reads the schema';
  const texts = compiled
    .filter((statement) => mayChangeMore(statement.method, textOf(statement)))
    .map(textOf);
  const verdicts = await Promise.all(texts.map((sql) => split.intents.inspect(sql)));
  const opened = verdicts.find(({ opensTransaction }) => opensTransaction !== undefined);
  if (opened?.opensTransaction !== undefined) throw refuseTransaction(opened.opensTransaction);

  return request('write', true, reason, wish, {
    intent: 'write',
    proved: true,
    reason,
    changesCatalog: true,
    sessionChange: verdicts.map(({ sessionChange }) => sessionChange).find(Boolean),
    mayMakeTemporary: verdicts.map((verdict) => verdict.mayMakeTemporary).find(Boolean),
    lockUse: worstUse(verdicts),
    isUnread: verdicts.some(({ isUnread }) => isUnread === true) ? true : undefined,
  });
}

function worstUse(verdicts: readonly Verdict[]): LockUse | undefined {
  const uses = verdicts.map(({ lockUse }) => lockUse);
  return (['lock', 'unlock-all', 'unlock'] as const).find((use) => uses.includes(use));
}

// Where reads and writes go the same way, what a name stands for makes no difference.
function asksCatalog({ settings, cluster, state }: RWSplit, { hint, scope }: Wish): boolean {
  if (scope?.isTask === true) return false;
  // What only seems to read, and writes, has to be seen by the reads of its session.
  const mode = hint?.consistency ?? sessionOf(state).settings.mode;
  if (mode !== 'eventual' && cluster.hosts.length > 1) return true;
  if (hint?.host !== undefined) return false;

  // In `onReplica(fn)` only proved reads go to replicas.
  const inScope =
    scope?.target === 'replica' && settings.target !== 'any' ? 'split' : scope?.target;
  const target = hint?.target ?? inScope ?? settings.target;
  return target === 'split' || target === 'prefer-replica';
}

function judged(split: RWSplit, sql: string, verdict: Verdict, wish: Wish): StatementRequest {
  const { intent, proved, reason, opensTransaction } = verdict;
  if (opensTransaction !== undefined) throw refuseTransaction(opensTransaction);

  if (intent === 'read') {
    if (wish.scope?.isTask === true) {
      return request('write', false, 'part of a migration or seed', wish, verdict);
    }
    if (wish.state?.isSerializable === true && wish.hint === undefined) {
      const serializable = 'its state wants serializable transactions, which a replica has not';
      return request('write', false, serializable, wish, verdict);
    }
    if (split.misroutes.has(sql, wish.state?.catalogKey)) {
      return request('write', false, 'a replica refused it before', wish, verdict);
    }
  }
  return request(intent, proved, reason, wish, verdict);
}

function request(
  intent: Intent,
  proved: boolean,
  reason: string,
  { split, hint, scope, state }: Wish,
  verdict?: Verdict,
): StatementRequest {
  const around = { hint, scope: scope?.target };
  const { session, isTracked, need, isStrong } = consistencyOf(split, intent, around);
  // Field by field: what is spread is slower to make, and to read, than the rest of the routing.
  return {
    intent,
    proved,
    reason,
    hint,
    scope: around.scope,
    state,
    verdict,
    session,
    isTracked,
    need,
    isStrong,
  };
}

function commentHint(sql: string): Hint | undefined {
  const target = readHintComment(sql);
  if (target !== undefined) return { target };

  // A misspelt wish for the primary must not be served by a replica.
  const problem = hintCommentProblem(sql);
  if (problem !== undefined) throw new ConfigError('/* rwsplit: … */', problem);
  return undefined;
}

function refuseTransaction(statement: string): SessionStateError {
  return new SessionStateError(
    `${statement} as raw text would open a transaction on one pooled connection, and the next query gets another; use knex.transaction().`,
  );
}

/** Whether a builder compiled to several statements, as schema builders do. */
export function isList(
  compiled: CompiledStatement | readonly CompiledStatement[],
): compiled is readonly CompiledStatement[] {
  return Array.isArray(compiled);
}

import type { Rule } from './expression-rules.ts';
import { expressionRules, isTemporary } from './expression-rules.ts';
import type { Findings } from './findings.ts';
import { listIn, nodeIn, type SyntaxNode, textIn } from './syntax-node.ts';
import { mayBeTemporaryPath } from './temporary-path.ts';
import { walk } from './walk.ts';

// nodes/parsenodes.h: CURSOR_OPT_HOLD; storage/lockdefs.h: RowExclusiveLock.
const withHold = 0x20;
const strongestLockOfAReplica = 3;
const ofTransaction = /^transaction(?: snapshot|_isolation|_read_only|_deferrable)?$/i;

const session =
  (change: string): Rule =>
  (_, findings) => (findings.changesSession(change), false);
const ofSession =
  (reason: string): Rule =>
  (_, findings) => (findings.needsSession(reason), false);
const write =
  (reason: string, looksInside = false): Rule =>
  (_, findings) => (findings.writes(reason), looksInside);
const primary =
  (reason: string, looksInside = false): Rule =>
  (_, findings) => (findings.mayWrite(reason), looksInside);

/** Statements that are more, or less, than a query; DDL is whatever is in neither table. */
export const statementRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['TruncateStmt', write('modifies data: TRUNCATE')],
  ['NotifyStmt', write('NOTIFY')],
  ['VacuumStmt', write('VACUUM or ANALYZE')],
  ['ClusterStmt', write('CLUSTER')],
  ['CopyStmt', copy],
  ['LockStmt', lock],
  ['CallStmt', primary('CALL may write', true)],
  ['DoStmt', code],
  ['VariableShowStmt', primary('SHOW tells a setting of one server')],
  ['CheckPointStmt', primary('CHECKPOINT')],
  ['AlterSystemStmt', primary('ALTER SYSTEM')],
  ['ConstraintsSetStmt', primary('SET CONSTRAINTS')],
  ['VariableSetStmt', set],
  ['DiscardStmt', session('DISCARD')],
  ['LoadStmt', session('LOAD')],
  ['ListenStmt', session('LISTEN')],
  ['UnlistenStmt', session('UNLISTEN')],
  ['PrepareStmt', session('PREPARE')],
  ['ExecuteStmt', session('EXECUTE')],
  ['DeallocateStmt', session('DEALLOCATE')],
  ['DeclareCursorStmt', declareCursor],
  ['FetchStmt', ofSession('FETCH needs the session of its cursor')],
  ['ClosePortalStmt', ofSession('CLOSE needs the session of its cursor')],
  ['CreateStmt', create('relation', 'temporary table')],
  ['CreateSeqStmt', create('sequence', 'temporary sequence')],
  ['ViewStmt', create('view', 'temporary view')],
]);

/** CREATE, ALTER, DROP, GRANT, COMMENT, REINDEX, … */
export const schemaChange: Rule = (node, findings) => {
  findings.changesCatalog = true;
  // Types, domains and the like have a place of the session's own, too.
  if (JSON.stringify(node).includes('"pg_temp')) findings.changesSession('temporary object');
  findings.writes('changes the schema');
  // Expressions may run at once, as a default does for the rows that are there.
  walk('', node, (type, inner) => expressionRules.get(type)?.(inner, findings) ?? true);
  return false;
};

// What it runs may be DDL; a procedure is called too often to forget the catalog each time.
function code(_: SyntaxNode, findings: Findings): boolean {
  findings.changesCatalog = true;
  findings.mayWrite('DO may write');
  return true;
}

function copy(node: SyntaxNode, findings: Findings): boolean {
  if (node['is_from'] === true) findings.writes('COPY FROM');
  else findings.mayWrite('COPY');
  return true;
}

function lock(node: SyntaxNode, findings: Findings): boolean {
  if (Number(node['mode']) > strongestLockOfAReplica) findings.writes('LOCK TABLE');
  else findings.mayWrite('LOCK TABLE');
  return false;
}

function set(node: SyntaxNode, findings: Findings): boolean {
  const kind = textIn(node, 'kind') ?? '';
  const name = textIn(node, 'name') ?? 'ALL';
  const verb = kind.startsWith('VAR_RESET') ? 'RESET' : 'SET';

  // Outside of a transaction these last no longer than the statement itself.
  if (node['is_local'] === true || ofTransaction.test(name))
    findings.mayWrite(`${verb} ${name} of a transaction`);
  else findings.changesSession(`${verb} ${name}`);
  if (mayBeTemporaryPath(name, JSON.stringify(listIn(node, 'args')))) {
    findings.mayMakeTemporary = true;
  }
  return false;
}

function declareCursor(node: SyntaxNode, findings: Findings): boolean {
  if ((Number(node['options']) & withHold) !== 0) findings.changesSession('DECLARE WITH HOLD');
  else findings.needsSession('DECLARE needs a transaction');
  return true;
}

function create(field: string, temporary: string): Rule {
  return (node, findings) => {
    const endsWithTransaction = node['oncommit'] === 'ONCOMMIT_DROP';
    if (isTemporary(nodeIn(node, field)) && !endsWithTransaction)
      findings.changesSession(temporary);
    return schemaChange(node, findings);
  };
}

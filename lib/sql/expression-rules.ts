import { judgeCall } from './call-rules.ts';
import type { Findings } from './findings.ts';
import { formatName, qualifiedNameOf, relationNameOf } from './qualified-name.ts';
import { describesOneServer } from './server-relations.ts';
import { listIn, nodeIn, type SyntaxNode, textIn } from './syntax-node.ts';
import { uncalledRules } from './uncalled-rules.ts';

/** Records what a node means; returns false where its inside needs no look. */
export type Rule = (node: SyntaxNode, findings: Findings) => boolean;

const harmless: Rule = () => true;
const leaf: Rule = () => false;

/** Every node that may occur within a read; any other makes a text unknown. */
export const expressionRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...each(harmless, [
    'List',
    'ResTarget',
    'BoolExpr',
    'NullTest',
    'BooleanTest',
    'CaseWhen',
    'CoalesceExpr',
    'MinMaxExpr',
    'RowExpr',
    'A_ArrayExpr',
    'A_Indices',
    'TypeCast',
    'CollateClause',
    'NamedArgExpr',
    'GroupingFunc',
    'GroupingSet',
    'WindowDef',
    'WithClause',
    'CommonTableExpr',
    'CTECycleClause',
    'RangeSubselect',
    'RangeTableFunc',
    'RangeTableFuncCol',
    'RangeTableSample',
    'ColumnDef',
    'XmlExpr',
    'XmlSerialize',
    'JsonOutput',
    'JsonReturning',
    'JsonValueExpr',
    'JsonBehavior',
    'JsonFuncExpr',
    'JsonArgument',
    'JsonTable',
    'JsonTableColumn',
    'JsonTablePathSpec',
    'JsonKeyValue',
    'JsonParseExpr',
    'JsonScalarExpr',
    'JsonSerializeExpr',
    'JsonIsPredicate',
    'JsonObjectConstructor',
    'JsonArrayConstructor',
    'JsonArrayQueryConstructor',
    'JsonAggConstructor',
    'JsonObjectAgg',
    'JsonArrayAgg',
    // Within INSERT, UPDATE, DELETE and MERGE, which are judged by themselves.
    'OnConflictClause',
    'InferClause',
    'IndexElem',
    'MultiAssignRef',
    'ReturningClause',
    'MergeWhenClause',
  ]),
  ...each(leaf, [
    'A_Const',
    'ParamRef',
    'A_Star',
    'String',
    'Integer',
    'Float',
    'Boolean',
    'BitString',
    'Alias',
    'SQLValueFunction',
    'CTESearchClause',
    'JsonFormat',
    'SetToDefault',
    'CurrentOfExpr',
    'ReturningOption',
    'MergeSupportFunc',
  ]),
  ['SelectStmt', select],
  ['LockingClause', (_, findings) => (findings.writes('locks rows'), false)],
  ['IntoClause', into],
  ['InsertStmt', (_, findings) => (findings.writes('modifies data: INSERT'), true)],
  ['UpdateStmt', update],
  ['DeleteStmt', (_, findings) => (findings.writes('modifies data: DELETE'), true)],
  ['MergeStmt', merge],
  ['FuncCall', (node, findings) => (judgeCall(node, findings), true)],
  ['RangeVar', relation],
  ['TypeName', typeName],
  ...uncalledRules,
]);

function each(rule: Rule, types: readonly string[]): [string, Rule][] {
  return types.map((type) => [type, rule]);
}

function select(node: SyntaxNode, findings: Findings): boolean {
  if (node['intoClause'] !== undefined) findings.changesCatalog = true;
  return true;
}

function into(node: SyntaxNode, findings: Findings): boolean {
  const endsWithTransaction = node['onCommit'] === 'ONCOMMIT_DROP';
  if (isTemporary(nodeIn(node, 'rel')) && !endsWithTransaction) {
    findings.changesSession('temporary table');
  }
  findings.writes('creates a table');
  return false;
}

function update(node: SyntaxNode, findings: Findings): boolean {
  // Which is a way to write SET.
  if (nodeIn(node, 'relation')['relname'] === 'pg_settings') {
    findings.changesSession('UPDATE pg_settings');
  }
  findings.writes('modifies data: UPDATE');
  return true;
}

/** A relation of the session's own, as CREATE TEMP TABLE and the schema pg_temp make it. */
export function isTemporary(relation: SyntaxNode): boolean {
  const schema = textIn(relation, 'schemaname') ?? '';
  return relation['relpersistence'] === 't' || schema.startsWith('pg_temp');
}

// Seen on PostgreSQL 15 and 18: a replica runs a MERGE that does nothing.
function merge(node: SyntaxNode, findings: Findings): boolean {
  const acts = listIn(node, 'mergeWhenClauses').some(
    (clause) => textIn(nodeIn(clause, 'MergeWhenClause'), 'commandType') !== 'CMD_NOTHING',
  );
  if (acts) findings.writes('modifies data: MERGE');
  else findings.mayWrite('MERGE');
  return true;
}

function relation(node: SyntaxNode, findings: Findings): boolean {
  const name = relationNameOf(node);
  if (name.schema?.startsWith('pg_temp')) findings.mayWrite(`reads ${formatName(name)}`);
  else if (describesOneServer(name))
    findings.mayWrite(`reads ${formatName(name)}, which describes one server`);
  else findings.readsRelation(name);
  return false;
}

function typeName(node: SyntaxNode, findings: Findings): boolean {
  const name = qualifiedNameOf(listIn(node, 'names'));
  if (name !== undefined) findings.castsTo(name.name);
  return false;
}

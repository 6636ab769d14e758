import { judgeCallAsField } from './call-rules.ts';
import type { Rule } from './expression-rules.ts';
import type { Findings } from './findings.ts';
import { formatName, qualifiedNameOf, stringOf } from './qualified-name.ts';
import { listIn, type SyntaxNode } from './syntax-node.ts';

/** Nodes that run a function without a call: operators, and columns that may be functions. */
export const uncalledRules: readonly (readonly [string, Rule])[] = [
  ['A_Expr', (node, findings) => (operator(listIn(node, 'name'), findings), true)],
  ['SubLink', subLink],
  ['CaseExpr', (node, findings) => (equality(node['arg'] !== undefined, findings), true)],
  ['JoinExpr', join],
  ['RangeFunction', (_, findings) => (findings.readsFunctionRows(), true)],
  ['SortBy', (node, findings) => (operator(listIn(node, 'useOp'), findings), true)],
  ['ColumnRef', column],
  ['A_Indirection', field],
];

function operator(parts: readonly unknown[], findings: Findings): void {
  const used = qualifiedNameOf(parts);
  if (used === undefined) return;
  if (used.schema?.startsWith('pg_temp') === true) findings.mayWrite(`uses ${formatName(used)}`);
  if (used.name.includes('BETWEEN')) {
    for (const name of ['<', '<=', '>', '>=']) findings.usesOperator({ name });
  } else findings.usesOperator(used);
}

// What PostgreSQL makes a comparison of without an operator in the text.
function equality(isMeant: boolean, findings: Findings): void {
  if (isMeant) findings.usesOperator({ name: '=' });
}

function subLink(node: SyntaxNode, findings: Findings): boolean {
  const name = listIn(node, 'operName');
  equality(node['subLinkType'] === 'ANY_SUBLINK' && name.length === 0, findings);
  operator(name, findings);
  return true;
}

function join(node: SyntaxNode, findings: Findings): boolean {
  equality(node['isNatural'] === true || listIn(node, 'usingClause').length > 0, findings);
  return true;
}

// PostgreSQL reads `t.f` as f(t) where t has no column f, and `(x).f` as f(x).
function column(node: SyntaxNode, findings: Findings): boolean {
  for (const name of namesIn(listIn(node, 'fields').slice(1))) {
    judgeCallAsField(name, findings);
    findings.readsColumn(name);
  }
  return false;
}

function field(node: SyntaxNode, findings: Findings): boolean {
  for (const name of namesIn(listIn(node, 'indirection'))) {
    judgeCallAsField(name, findings);
    findings.readsField(name);
  }
  return true;
}

function namesIn(parts: readonly unknown[]): readonly string[] {
  return parts.map(stringOf).filter((name) => name !== undefined);
}

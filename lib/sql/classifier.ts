import { expressionRules } from './expression-rules.ts';
import { Findings } from './findings.ts';
import { FunctionLists } from './function-lists.ts';
import { type Lookups, noLookups } from './lookups.ts';
import { parseStatements } from './parser.ts';
import { mayChangeSchema } from './schema-change.ts';
import { schemaChange, statementRules } from './statement-rules.ts';
import { listIn, nodeIn, type SyntaxNode, textIn, typedNode } from './syntax-node.ts';
import { TransactionTracker } from './transaction-tracker.ts';
import type { Verdict } from './verdict.ts';
import { walk } from './walk.ts';

/** What the text alone says; a `read` holds only if none of the names turns out to write. */
export interface ParsedVerdict {
  readonly verdict: Verdict;
  readonly lookups: Lookups;
}

const noLists = new FunctionLists();

/**
 * Judges a text with `$n` placeholders by PostgreSQL's grammar, at every depth of its syntax tree.
 *
 * It is a read only if everything in it is known to read. Several statements in one text are
 * judged together.
 */
export function classify(text: string, lists: FunctionLists = noLists): ParsedVerdict {
  const parsed = parseStatements(text);
  const findings = new Findings(lists);
  if ('failure' in parsed) {
    findings.unknown(parsed.failure);
    findings.changesCatalog = mayChangeSchema(text);
    return {
      verdict: Object.freeze({ ...findings.verdict(), isUnread: true }),
      lookups: noLookups,
    };
  }

  const transaction = new TransactionTracker();
  if (parsed.statements.length === 0) findings.mayWrite('empty');
  for (const statement of parsed.statements) judgeStatement(statement, findings, transaction);
  transaction.finish(findings);

  return { verdict: findings.verdict(), lookups: findings.lookups() };
}

function judgeStatement(
  statement: SyntaxNode,
  findings: Findings,
  transaction: TransactionTracker,
): void {
  const typed = typedNode(statement);
  if (typed === undefined) return findings.unknown('a statement without a kind');

  const [type, node] = typed;
  if (type === 'TransactionStmt') return transaction.take(node, findings);
  if (type === 'ExplainStmt') return judgeExplain(node, findings);

  const rule = statementRules.get(type) ?? (expressionRules.has(type) ? undefined : schemaChange);
  if (rule !== undefined && !rule(node, findings)) return undefined;
  return judgeInside(rule === undefined ? type : undefined, node, findings);
}

// With a rule of its own, a statement is judged already and only its parts are left.
function judgeInside(type: string | undefined, root: SyntaxNode, findings: Findings): void {
  walk(type ?? '', root, (nodeType, node) => {
    if (node === root && type === undefined) return true;
    const rule = expressionRules.get(nodeType);
    if (rule !== undefined) return rule(node, findings);
    findings.unknown(`syntax ${nodeType}`);
    return false;
  });
}

function judgeExplain(node: SyntaxNode, findings: Findings): void {
  // `analyze false` runs nothing, but nobody needs it on a replica.
  const doesRun = listIn(node, 'options').some(
    (option) => textIn(nodeIn(option, 'DefElem'), 'defname') === 'analyze',
  );
  const inner = new Findings(findings.lists);
  judgeStatement(nodeIn(node, 'query'), inner, new TransactionTracker());
  findings.include(inner, doesRun);
}

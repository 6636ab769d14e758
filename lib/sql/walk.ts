import { isNode, type SyntaxNode, typedNode } from './syntax-node.ts';

/** Looks at one node; returns false where its inside is not to be walked. */
export type Visit = (type: string, node: SyntaxNode) => boolean;

// Most nodes come with their type: { FuncCall: { … } }. These fields hold one without.
const bareFields: ReadonlyMap<string, string> = new Map([
  ['withClause', 'WithClause'],
  ['larg', 'SelectStmt'],
  ['rarg', 'SelectStmt'],
  ['typeName', 'TypeName'],
  ['over', 'WindowDef'],
  ['intoClause', 'IntoClause'],
  ['into', 'IntoClause'],
  ['rel', 'RangeVar'],
  ['relation', 'RangeVar'],
  ['returningClause', 'ReturningClause'],
  ['onConflictClause', 'OnConflictClause'],
  ['infer', 'InferClause'],
  ['funccall', 'FuncCall'],
  ['collClause', 'CollateClause'],
  ['alias', 'Alias'],
  ['join_using_alias', 'Alias'],
  ['search_clause', 'CTESearchClause'],
  ['cycle_clause', 'CTECycleClause'],
  ['output', 'JsonOutput'],
  ['returning', 'JsonReturning'],
  ['format', 'JsonFormat'],
  ['pathspec', 'JsonTablePathSpec'],
  ['on_empty', 'JsonBehavior'],
  ['on_error', 'JsonBehavior'],
  ['constructor', 'JsonAggConstructor'],
  // JSON clauses: what stands here without a type is always an expression with a format.
  ['context_item', 'JsonValueExpr'],
  ['arg', 'JsonValueExpr'],
  ['value', 'JsonValueExpr'],
  ['val', 'JsonValueExpr'],
  ['expr', 'JsonValueExpr'],
]);

/** Visits a node and everything inside it, at every depth, without recursion. */
export function walk(type: string, root: SyntaxNode, visit: Visit): void {
  const waiting: [string, SyntaxNode][] = [[type, root]];

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [nodeType, node] = next;
    if (!visit(nodeType, node)) continue;

    for (const field in node) {
      const value = node[field];
      if (typeof value === 'object' && value !== null) addNodes(waiting, field, value);
    }
  }
}

function addNodes(waiting: [string, SyntaxNode][], field: string, value: unknown): void {
  if (!Array.isArray(value)) return addNode(waiting, value, field, false);
  for (const item of value) addNode(waiting, item, field, true);
}

function addNode(
  waiting: [string, SyntaxNode][],
  value: unknown,
  field: string,
  isItem: boolean,
): void {
  if (!isNode(value)) return;
  const typed = typedNode(value);
  if (typed !== undefined) waiting.push(typed);
  // The grammar leaves empty places in some lists, e.g. that of a function in FROM.
  else if (Object.keys(value).length > 0) waiting.push([bareType(field, isItem), value]);
}

function bareType(field: string, isItem: boolean): string {
  return isItem ? `item of ${field}` : (bareFields.get(field) ?? `field ${field}`);
}
